/* SPDX-License-Identifier: MIT */
/*
 * Tests of packs/old-packs.c, which removes the packs that a repack has
 * replaced: which packs are removed, and which stay.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/mem.h"
#include "midx/multi-pack.h"
#include "odb/odb.h"
#include "packs/old-packs.h"
#include "sys/io.h"
#include "t/unit/tmppack.h"

static const char hex_a[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
static const char hex_b[] = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
static const char hex_c[] = "cccccccccccccccccccccccccccccccccccccccc";

/*
 * Create the file pack-<hex>.<extension> for each of the extensions. The files
 * are empty, because their content is never read.
 */
static void add_pack(const struct tmprepo *t, const char *hex,
		     const char *extensions)
{
	char name[128], list[128];

	snprintf(list, sizeof(list), "%s", extensions);
	for (char *p = strtok(list, " "); p; p = strtok(NULL, " ")) {
		snprintf(name, sizeof(name), "objects/pack/pack-%s.%s", hex, p);
		tmprepo_write(t, name, "");
	}
}

static bool has(const struct tmprepo *t, const char *hex, const char *ext)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/pack/pack-%s.%s", t->objects, hex,
		 ext);
	return sys_exists(path);
}

static const char midx_bitmap[] =
	"multi-pack-index-dddddddddddddddddddddddddddddddddddddddd.bitmap";
static const char midx_rev[] =
	"multi-pack-index-dddddddddddddddddddddddddddddddddddddddd.rev";

static void add_file(const struct tmprepo *t, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "objects/pack/%s", name);
	tmprepo_write(t, path, "");
}

static bool has_file(const struct tmprepo *t, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/pack/%s", t->objects, name);
	return sys_exists(path);
}

static void list(struct old_packs *old, const struct tmprepo *t)
{
	char *dir = repo_object_path(&t->repo, "pack");

	assert_int_equal(old_packs_list(old, dir, NULL), 0);
	free(dir);
}

static void spare(struct old_packs *old, const char *hex)
{
	char name[64];

	snprintf(name, sizeof(name), "pack-%s", hex);
	old_packs_spare(old, name);
}

static void listing(void **state)
{
	struct old_packs old;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	/*
	 * The pack directory does not exist yet, so the list of old packs is
	 * empty.
	 */
	list(&old, &t);
	assert_int_equal(old.nr, 0);
	old_packs_release(&old);
	add_pack(&t, hex_a, "pack idx rev bitmap");
	add_pack(&t, hex_b, "pack idx keep");
	/* This pack has no index, so it is not listed. */
	add_pack(&t, hex_c, "pack");
	tmprepo_write(&t, "objects/pack/tmp_pack_X", "");
	tmprepo_write(&t, "objects/pack/multi-pack-index", "");
	list(&old, &t);
	assert_int_equal(old.nr, 1);
	assert_non_null(strstr(old.packs[0].base, hex_a));
	old_packs_release(&old);
	tmprepo_release(&t);
}

static void promisor_packs(void **state)
{
	struct old_packs old;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	add_pack(&t, hex_a, "pack idx promisor");
	list(&old, &t);
	assert_int_equal(old.nr, 1);
	assert_int_equal(old_packs_remove(&old, NULL, NULL), 0);
	old_packs_release(&old);
	list(&old, &t);
	assert_int_equal(old.nr, 0);
	old_packs_release(&old);
	tmprepo_release(&t);
}

/* All packs but the new one are removed, with all their files. */
static void removal(void **state)
{
	static const char *const all[] = {"pack", "idx", "rev", "bitmap",
					  "mtimes"};
	struct old_packs old;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	add_pack(&t, hex_a, "pack idx rev bitmap mtimes");
	add_pack(&t, hex_b, "pack idx rev bitmap");
	add_file(&t, "multi-pack-index");
	add_file(&t, midx_bitmap);
	add_file(&t, midx_rev);
	list(&old, &t);
	assert_int_equal(old.nr, 2);
	/* A pack that was made after the listing is not removed. */
	add_pack(&t, hex_c, "pack idx");
	spare(&old, hex_b);
	assert_int_equal(old_packs_remove(&old, NULL, NULL), 0);
	for (size_t i = 0; i < 5; i++) {
		assert_false(has(&t, hex_a, all[i]));
		assert_int_equal(has(&t, hex_b, all[i]), i < 4);
		assert_int_equal(has(&t, hex_c, all[i]), i < 2);
	}
	assert_false(has_file(&t, "multi-pack-index"));
	assert_false(has_file(&t, midx_bitmap));
	assert_false(has_file(&t, midx_rev));
	/* A second call of old_packs_remove() has nothing to remove. */
	assert_int_equal(old_packs_remove(&old, NULL, NULL), 0);
	assert_true(has(&t, hex_b, "pack"));
	assert_true(has(&t, hex_c, "pack"));
	old_packs_release(&old);
	tmprepo_release(&t);
}

/*
 * A pack may have any name. Here, one pack has the name "foo", and another one
 * the name "foo.pack". All files of the listed packs are removed. Other files
 * stay. An example is the file foo.pack.pack.rev: it belongs to a pack
 * "foo.pack.pack", which is not listed.
 */
static void any_name(void **state)
{
	static const char *const gone[] = {
		"loose-1.pack", "loose-1.idx",     "loose-1.bitmap",
		"loose-1.rev",  "PACK-1.pack",     "PACK-1.idx",
		"foo.pack",     "foo.idx",         "foo.pack.pack",
		"foo.pack.idx", "foo.pack.mtimes",
	};
	static const char *const left[] = {
		".tmp-1-pack-1.pack",
		".tmp-1-pack-1.idx",
		"lone.idx",
		"loose-2.idx",
		"loose-2.pack",
		"loose-2.keep",
		"foo.pack.pack.rev",
		"loose-1.pack.lock",
		"multi-pack-index-1.idx",
		"multi-pack-index-1.pack",
	};
	struct old_packs old;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	for (size_t i = 0; i < ARRAY_NR(gone); i++)
		add_file(&t, gone[i]);
	for (size_t i = 0; i < ARRAY_NR(left); i++)
		add_file(&t, left[i]);
	list(&old, &t);
	assert_int_equal(old.nr, 4);
	assert_int_equal(old_packs_remove(&old, NULL, NULL), 0);
	for (size_t i = 0; i < ARRAY_NR(gone); i++)
		assert_false(has_file(&t, gone[i]));
	for (size_t i = 0; i < ARRAY_NR(left); i++)
		assert_true(has_file(&t, left[i]));
	old_packs_release(&old);
	tmprepo_release(&t);
}

/* Side files are removed only if their pack has an .idx and no .pack file. */
static void lone_files(void **state)
{
	static const char *const gone[] = {
		"loose-1.idx",  "loose-1.rev", "loose-1.bitmap",
		"loose-1.keep", "pack-1.idx",  "pack-1.keep",
	};
	static const char *const left[] = {
		"pack-2.pack", "pack-2.idx", "pack-3.pack", "pack-4.rev",
		"pack-5.keep", ".6.idx",     "pack-1.foo",
	};
	char path[4096];
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	snprintf(path, sizeof(path), "%s/pack", t.objects);
	assert_int_equal(old_packs_remove_lone(path, NULL), 0);
	for (size_t i = 0; i < ARRAY_NR(gone); i++)
		add_file(&t, gone[i]);
	for (size_t i = 0; i < ARRAY_NR(left); i++)
		add_file(&t, left[i]);
	add_file(&t, "pack-7.idx/x");
	assert_int_equal(old_packs_remove_lone(path, NULL), 0);
	for (size_t i = 0; i < ARRAY_NR(gone); i++)
		assert_false(has_file(&t, gone[i]));
	for (size_t i = 0; i < ARRAY_NR(left); i++)
		assert_true(has_file(&t, left[i]));
	assert_true(has_file(&t, "pack-7.idx/x"));
	tmprepo_release(&t);
}

/*
 * There are two packs: "a" with the file a.pack, and "a.pack" with the file
 * a.pack.pack. The multi-pack-index names only the pack "a.pack". If the pack
 * "a" is removed, the multi-pack-index must stay. If the pack "a.pack" is
 * removed, the multi-pack-index must be removed, too.
 */
static void in_multi_pack_index(void **state)
{
	static const char *const gone[] = {"a", "a.pack"};
	struct tmppack_object packed[] = {{.type = OBJ_BLOB, .text = "one\n"}};

	for (size_t i = 0; i < ARRAY_NR(gone); i++) {
		struct multi_pack_options options = {0};
		struct multi_pack_result result;
		struct old_packs old;
		struct tmprepo t;
		struct odb *odb;

		tmprepo_init(&t, HASH_SHA1);
		tmppack_write(&t, "objects", "a.pack", packed, 1, false);
		assert_int_equal(odb_open(&odb, &t.repo, NULL, NULL), 0);
		assert_int_equal(multi_pack_write(&result, odb, &options, NULL),
				 0);
		odb_close(odb);
		tmppack_write(&t, "objects", "a", packed, 1, false);
		list(&old, &t);
		assert_int_equal(old.nr, 2);
		old_packs_spare(&old, gone[!i]);
		assert_int_equal(old_packs_remove(&old, NULL, NULL), 0);
		assert_int_equal(has_file(&t, "multi-pack-index"), !i);
		assert_int_equal(has_file(&t, "a.pack.pack"), !i);
		assert_int_equal(has_file(&t, "a.pack"), i);
		old_packs_release(&old);
		tmprepo_release(&t);
	}
}

/*
 * A pack had a .keep file only while the snapshot was opened, not when the old
 * packs were listed. The pack must not be removed.
 */
static void kept_for_a_while(void **state)
{
	struct tmppack_object packed[] = {{.type = OBJ_BLOB, .text = "one\n"}};
	struct old_packs old;
	struct tmprepo t;
	struct odb *odb;

	tmprepo_init(&t, HASH_SHA1);
	tmppack_write(&t, "objects", "pack-1", packed, 1, false);
	add_pack(&t, hex_a, "pack idx");
	list(&old, &t);
	assert_int_equal(old.nr, 2);
	tmprepo_write(&t, "objects/pack/pack-1.keep", "");
	assert_int_equal(odb_open(&odb, &t.repo, NULL, NULL), 0);
	tmprepo_remove(&t, "objects/pack/pack-1.keep");
	old_packs_spare_kept(&old, odb);
	assert_int_equal(old.nr, 1);
	assert_non_null(strstr(old.packs[0].base, hex_a));
	odb_close(odb);
	old_packs_release(&old);
	tmprepo_release(&t);
}

/*
 * A pack got a .keep file after it was listed as old. This pack must not be
 * removed.
 */
static void kept_since_the_listing(void **state)
{
	struct old_packs old;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	add_pack(&t, hex_a, "pack idx");
	add_pack(&t, hex_b, "pack idx");
	list(&old, &t);
	assert_int_equal(old.nr, 2);
	add_pack(&t, hex_a, "keep");
	assert_int_equal(old_packs_remove(&old, NULL, NULL), 0);
	assert_true(has(&t, hex_a, "pack") && has(&t, hex_a, "idx"));
	assert_false(has(&t, hex_b, "pack") || has(&t, hex_b, "idx"));
	old_packs_release(&old);
	tmprepo_release(&t);
}

/*
 * After the old packs were listed, another repack made a pack with the same
 * name as one of them. The new pack must not be removed.
 */
static void made_again(void **state)
{
	char from[4096], to[4096];
	struct old_packs old;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	add_pack(&t, hex_a, "pack idx");
	add_pack(&t, hex_b, "pack idx");
	list(&old, &t);
	add_file(&t, "other");
	snprintf(from, sizeof(from), "%s/pack/other", t.objects);
	snprintf(to, sizeof(to), "%s/pack/pack-%s.idx", t.objects, hex_a);
	assert_int_equal(rename(from, to), 0);
	assert_int_equal(old_packs_remove(&old, NULL, NULL), 0);
	assert_true(has(&t, hex_a, "pack") && has(&t, hex_a, "idx"));
	assert_false(has(&t, hex_b, "pack") || has(&t, hex_b, "idx"));
	old_packs_release(&old);
	tmprepo_release(&t);
}

/*
 * No pack is removed if another process has removed a pack that the caller has
 * made.
 */
static void made_pack_is_gone(void **state)
{
	struct strlist made = STRLIST_INIT;
	const struct odb none = {.pack_nr = 0};
	const struct old_packs_guard guard = {.odb = &none, .made = &made};
	struct old_packs old;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	add_pack(&t, hex_a, "pack idx");
	list(&old, &t);
	assert_int_equal(pack_names_add(&made, "pack-b.idx"), 0);
	assert_int_equal(old_packs_remove(&old, &guard, NULL), ERR_MISSING);
	assert_true(has(&t, hex_a, "pack") && has(&t, hex_a, "idx"));
	add_file(&t, "pack-b.idx");
	assert_int_equal(old_packs_remove(&old, &guard, NULL), 0);
	assert_false(has(&t, hex_a, "pack") || has(&t, hex_a, "idx"));
	strlist_release(&made);
	old_packs_release(&old);
	tmprepo_release(&t);
}

/* If no pack is removed, the multi-pack-index stays. */
static void nothing_to_remove(void **state)
{
	struct old_packs old;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	add_pack(&t, hex_a, "pack idx");
	add_file(&t, "multi-pack-index");
	list(&old, &t);
	spare(&old, hex_a);
	assert_int_equal(old_packs_remove(&old, NULL, NULL), 0);
	assert_true(has_file(&t, "multi-pack-index"));
	old_packs_release(&old);
	tmprepo_release(&t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(listing),
		cmocka_unit_test(promisor_packs),
		cmocka_unit_test(removal),
		cmocka_unit_test(any_name),
		cmocka_unit_test(lone_files),
		cmocka_unit_test(in_multi_pack_index),
		cmocka_unit_test(kept_for_a_while),
		cmocka_unit_test(kept_since_the_listing),
		cmocka_unit_test(made_again),
		cmocka_unit_test(made_pack_is_gone),
		cmocka_unit_test(nothing_to_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
