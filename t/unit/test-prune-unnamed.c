/* SPDX-License-Identifier: MIT */
/*
 * Tests of repack/prune-unnamed.c, which removes packs of killed processes that
 * have no final name yet (.tmp-<pid>-pack-<hash>).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "repack/prune-parts.h"
#include "sys/io.h"
#include "t/unit/tmppack.h"

#define HASH "0123456789012345678901234567890123456789"
#define FIRST ".tmp-1-pack-" HASH
#define SECOND ".tmp-22-pack-" HASH

static void count(void *ctx, const char *path, bool is_dir)
{
	assert_true(sys_exists(path));
	++*(unsigned *)ctx;
}

static bool is_wanted(void *ctx, const uint8_t *raw)
{
	return *(bool *)ctx;
}

static bool is_there(const struct tmprepo *t, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/pack/%s", t->objects, name);
	return sys_exists(path);
}

/*
 * Prune packs that have no final name. `wanted`: the result of is_wanted() for
 * each object. `asks`: the expected result of prune_unnamed_asks(). `expiry`:
 * seconds since 1970; if any of the packs was written later, no pack is
 * removed. Returns the number of removed files that were reported.
 */
static unsigned prune(const struct tmprepo *t, bool wanted, bool asks,
		      int64_t expiry)
{
	unsigned told = 0;
	const struct prune_options o = {
		.expiry = expiry,
		.hooks = {.stale = count, .ctx = &told},
	};
	struct prune_unnamed list;
	struct odb *odb;

	assert_int_equal(odb_open_named(&odb, &t->repo, NULL, NULL), 0);
	assert_int_equal(prune_unnamed_list(&list, &t->repo, &o, NULL), 0);
	assert_int_equal(prune_unnamed_asks(&list), asks);
	assert_int_equal(
		prune_unnamed_remove(&list, odb, is_wanted, &wanted, &o, NULL),
		0);
	prune_unnamed_release(&list);
	odb_close(odb);
	return told;
}

static void whole_packs(void **state)
{
	struct tmppack_object blobs[] = {{.type = OBJ_BLOB, .text = "one\n"},
					 {.type = OBJ_BLOB, .text = "two\n"}};
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	tmppack_write(&t, "objects", FIRST, blobs, 1, false);
	tmppack_write(&t, "objects", SECOND, blobs, 2, false);
	assert_int_equal(prune(&t, true, false, 1), 0);
	assert_int_equal(prune(&t, true, true, INT64_MAX), 0);
	tmppack_write(&t, "objects", "pack-1", blobs, 1, false);
	assert_int_equal(prune(&t, true, true, INT64_MAX), 0);
	tmprepo_write(&t, "objects/pack/" FIRST ".keep", "");
	assert_int_equal(prune(&t, false, false, INT64_MAX), 0);
	tmprepo_remove(&t, "objects/pack/" FIRST ".keep");
	assert_true(is_there(&t, FIRST ".idx"));
	assert_int_equal(prune(&t, false, true, INT64_MAX), 2);
	assert_false(is_there(&t, FIRST ".idx"));
	assert_false(is_there(&t, SECOND ".pack"));
	tmppack_write(&t, "objects", FIRST, blobs, 1, false);
	assert_int_equal(prune(&t, true, true, INT64_MAX), 1);
	assert_true(is_there(&t, "pack-1.idx"));
	tmprepo_remove(&t, "objects/pack/pack-1.idx");
	tmprepo_remove(&t, "objects/pack/pack-1.pack");
	tmprepo_release(&t);
}

/*
 * A .pack file is removed if its .idx file is missing, and an .idx file if its
 * .pack file is missing. Files with other names stay.
 */
static void single_files(void **state)
{
	static const char *const others[] = {
		".tmp-1-pack-x.pack", ".tmp-x-pack-" HASH ".pack",
		".tmp-1-" HASH ".pack", ".tmp-1-pack-" HASH};
	char path[256];
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		snprintf(path, sizeof(path), "objects/pack/%s", others[i]);
		tmprepo_write(&t, path, "");
	}
	tmprepo_write(&t, "objects/pack/" FIRST ".pack", "");
	tmprepo_write(&t, "objects/pack/" FIRST ".rev", "");
	tmprepo_write(&t, "objects/pack/" SECOND ".idx", "");
	assert_int_equal(prune(&t, true, false, 1), 0);
	assert_int_equal(prune(&t, true, false, INT64_MAX), 3);
	assert_false(is_there(&t, SECOND ".idx"));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		assert_true(is_there(&t, others[i]));
		snprintf(path, sizeof(path), "objects/pack/%s", others[i]);
		tmprepo_remove(&t, path);
	}
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_packs),
		cmocka_unit_test(single_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
