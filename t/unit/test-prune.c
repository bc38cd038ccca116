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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
