/* SPDX-License-Identifier: MIT */
/*
 * Tests of repack/prune.c, which removes unreachable loose objects: old ones
 * are removed, and reachable or recent ones stay.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "odb/odb.h"
#include "repack/prune.h"
#include "t/unit/nomem.h"
#include "t/unit/tmppack.h"

struct told {
	unsigned objects, stale;
	struct oid last;
};

static void tell_object(void *ctx, const struct oid *oid, enum object_type type)
{
	struct told *told = ctx;

	assert_int_equal(type, OBJ_BLOB);
	told->objects++;
	told->last = *oid;
}

static void tell_stale(void *ctx, const char *path, bool is_dir)
{
	assert_false(is_dir);
	((struct told *)ctx)->stale++;
}

static bool has(const struct tmprepo *t, const struct oid *oid)
{
	struct odb *odb;
	bool found;

	assert_int_equal(odb_open(&odb, &t->repo, NULL, NULL), 0);
	found = odb_has_loose(odb, oid);
	odb_close(odb);
	return found;
}

struct fixture {
	struct tmprepo t;
	struct oid named, head, lone;
};

static void fixture_init(struct fixture *f)
{
	char hex[OID_MAX_HEX_LEN + 1];

	tmprepo_init(&f->t, HASH_SHA1);
	tmprepo_write(&f->t, "HEAD", "ref: refs/heads/main\n");
	tmprepo_write(&f->t, "objects/pack/tmp_pack_x", "");
	tmppack_loose(&f->t, "objects", &f->named, OBJ_BLOB, "one\n", 4);
	tmppack_loose(&f->t, "objects", &f->head, OBJ_BLOB, "two\n", 4);
	tmppack_loose(&f->t, "objects", &f->lone, OBJ_BLOB, "three\n", 6);
	oid_to_hex(hex, &f->named, HASH_SHA1);
	tmprepo_write(&f->t, "refs/tags/named", hex);
}

static struct told prune(struct fixture *f, int64_t expiry, bool dry_run,
			 int code)
{
	struct told told = {0};
	const struct prune_options options = {
		.expiry = expiry,
		.dry_run = dry_run,
		.heads = &f->head,
		.head_nr = 1,
		.hooks = {.object = tell_object,
			  .stale = tell_stale,
			  .ctx = &told},
	};

	assert_int_equal(prune_run(&f->t.repo, &options, NULL), code);
	return told;
}

static void what_goes(void **state)
{
	struct fixture f;
	struct told told;

	fixture_init(&f);
	/*
	 * No object is removed if the expiry is 0, or if all files are newer
	 * than the expiry.
	 */
	for (int64_t expiry = 0; expiry < 2000000; expiry += 1000000) {
		told = prune(&f, expiry, false, 0);
		assert_int_equal(told.objects + told.stale, 0);
	}
	for (unsigned i = 0; i < 2; i++) {
		assert_true(has(&f.t, &f.lone));
		told = prune(&f, INT64_MAX, !i, 0);
		assert_int_equal(told.objects, 1);
		assert_int_equal(told.stale, 1);
		assert_true(oid_equal(&told.last, &f.lone));
	}
	assert_false(has(&f.t, &f.lone));
	assert_true(has(&f.t, &f.named));
	assert_true(has(&f.t, &f.head));
	tmprepo_release(&f.t);
}

static void tell_shallow(void *ctx, const struct oid *oid)
{
	struct told *told = ctx;

	told->objects++;
	told->last = *oid;
}

/*
 * A commit of the file `shallow` that no ref reaches is removed from this file.
 * A dry run only reports it.
 */
static void shallow(void **state)
{
	static const char text[] =
		"tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n"
		"author A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\n";
	char hex[OID_MAX_HEX_LEN + 2], lone[OID_MAX_HEX_LEN + 2];
	struct buf path = BUF_INIT, both = BUF_INIT, left = BUF_INIT;
	struct told told = {0};
	struct prune_options options = {
		.expiry = INT64_MAX,
		.dry_run = true,
		.hooks = {.shallow = tell_shallow, .ctx = &told},
	};
	struct oid commit, tree, gone;
	struct fixture f;

	fixture_init(&f);
	tmppack_loose(&f.t, "objects", &tree, OBJ_TREE, "", 0);
	tmppack_loose(&f.t, "objects", &commit, OBJ_COMMIT, text, strlen(text));
	tmppack_loose(&f.t, "objects", &gone, OBJ_COMMIT, text,
		      strlen(text) - 1);
	strcat(oid_to_hex(hex, &commit, HASH_SHA1), "\n");
	strcat(oid_to_hex(lone, &gone, HASH_SHA1), "\n");
	tmprepo_write(&f.t, "refs/heads/main", hex);
	buf_printf(&both, "%s%s", hex, lone);
	tmprepo_write(&f.t, "shallow", both.data);
	buf_printf(&path, "%s/shallow", f.t.dir);
	for (int dry = 1; dry >= 0; dry--) {
		options.dry_run = dry;
		assert_int_equal(prune_run(&f.t.repo, &options, NULL), 0);
		assert_int_equal(told.objects, 1);
		assert_true(oid_equal(&told.last, &gone));
		buf_reset(&left);
		assert_int_equal(sys_read_any(&left, path.data, NULL), 0);
		if (dry) {
			assert_non_null(strstr(left.data, hex));
			assert_non_null(strstr(left.data, lone));
		} else {
			assert_string_equal(left.data, hex);
		}
	}
	buf_release(&path);
	buf_release(&both);
	buf_release(&left);
	tmprepo_release(&f.t);
}

/*
 * Only the refs are roots: options.heads is empty, the file `shallow` does not
 * exist, and there is no pack with a temporary name (which a killed repack can
 * leave). Loose objects that no ref reaches are removed.
 */
static void without_heads(void **state)
{
	const struct prune_options options = {.expiry = INT64_MAX};
	struct fixture f;

	fixture_init(&f);
	assert_int_equal(prune_run(&f.t.repo, &options, NULL), 0);
	assert_true(has(&f.t, &f.named));
	assert_false(has(&f.t, &f.head));
	assert_false(has(&f.t, &f.lone));
	tmprepo_release(&f.t);
}

static void loose_path(char *path, size_t len, const struct fixture *f,
		       const struct oid *oid)
{
	char hex[OID_MAX_HEX_LEN + 1];

	oid_to_hex(hex, oid, HASH_SHA1);
	snprintf(path, len, "%s/%.2s/%s", f->t.objects, hex, hex + 2);
}

static void freshen(void *ctx, const char *strange)
{
	char path[4200];

	loose_path(path, sizeof(path), ctx, &((struct fixture *)ctx)->lone);
	assert_int_equal(sys_set_mtime(path, 2000, NULL), 0);
}

/*
 * After prune has listed an unreachable object, another process writes the
 * object again. So the object is not removed.
 */
static void written_again(void **state)
{
	char path[4200];
	struct fixture f;
	const struct prune_options options = {
		.expiry = INT64_MAX,
		.hooks = {.strange = freshen, .ctx = &f},
	};

	fixture_init(&f);
	loose_path(path, sizeof(path), &f, &f.lone);
	assert_int_equal(sys_set_mtime(path, 1000, NULL), 0);
	/*
	 * The directory 00 is visited first. For the strange file in it,
	 * prune_run() calls freshen(), which gives `lone` a new modification
	 * time. So `lone` must not be removed later.
	 */
	tmprepo_write(&f.t, "objects/00/strange", "");
	assert_int_equal(prune_run(&f.t.repo, &options, NULL), 0);
	assert_true(has(&f.t, &f.lone));
	assert_false(has(&f.t, &f.head));
	tmprepo_release(&f.t);
}

/*
 * A pack that still has a temporary name is removed if its objects are
 * unreachable. In a partial clone, such a pack always stays. The reason: the
 * search for reachable objects stops at objects of promisor packs. So an object
 * that is reachable only through a promisor pack would seem unreachable, and
 * the pack with the temporary name could have this object.
 */
static void unnamed_packs(void **state)
{
	static const char name[] =
		".tmp-1-pack-0123456789012345678901234567890123456789";
	const struct prune_options options = {.expiry = INT64_MAX};
	struct tmppack_object one = {.type = OBJ_BLOB, .text = "four\n"};
	struct tmppack_object two = {.type = OBJ_BLOB, .text = "five\n"};
	char path[4200];
	struct fixture f;

	fixture_init(&f);
	snprintf(path, sizeof(path), "%s/pack/%s.pack", f.t.objects, name);
	tmppack_write(&f.t, "objects", name, &one, 1, false);
	tmppack_write(&f.t, "objects", "pack-1", &two, 1, false);
	tmprepo_write(&f.t, "objects/pack/pack-1.promisor", "");
	assert_int_equal(prune_run(&f.t.repo, &options, NULL), 0);
	assert_true(sys_exists(path));
	tmprepo_remove(&f.t, "objects/pack/pack-1.promisor");
	assert_int_equal(prune_run(&f.t.repo, &options, NULL), 0);
	assert_false(sys_exists(path));
	tmprepo_release(&f.t);
}

static void write_lone(void *ctx)
{
	struct fixture *f = ctx;

	tmppack_loose(&f->t, "objects", &f->lone, OBJ_BLOB, "three\n", 6);
	tmprepo_write(&f->t, "objects/pack/tmp_pack_x", "");
}

static int prune_all(void *ctx, struct error *err)
{
	struct fixture *f = ctx;
	const struct prune_options options = {
		.expiry = INT64_MAX,
		.heads = &f->head,
		.head_nr = 1,
	};

	return prune_run(&f->t.repo, &options, err);
}

static void is_pruned(void *ctx)
{
	struct fixture *f = ctx;
	char path[4200];

	assert_false(has(&f->t, &f->lone));
	snprintf(path, sizeof(path), "%s/pack/tmp_pack_x", f->t.objects);
	assert_false(sys_exists(path));
}

/* If memory runs out, reachable objects stay, and the error is returned. */
static void no_memory(void **state)
{
	struct fixture f;

	fixture_init(&f);
	nomem_each(write_lone, prune_all, is_pruned, &f);
	assert_true(has(&f.t, &f.named));
	assert_true(has(&f.t, &f.head));
	tmprepo_release(&f.t);
}

static void missing_root(void **state)
{
	struct fixture f;
	struct told told;

	fixture_init(&f);
	tmprepo_write(&f.t, "refs/heads/gone",
		      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n");
	told = prune(&f, INT64_MAX, false, ERR_MISSING);
	assert_int_equal(told.objects + told.stale, 0);
	assert_true(has(&f.t, &f.lone));
	tmprepo_release(&f.t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_goes),
		cmocka_unit_test(missing_root),
		cmocka_unit_test(shallow),
		cmocka_unit_test(without_heads),
		cmocka_unit_test(written_again),
		cmocka_unit_test(unnamed_packs),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
