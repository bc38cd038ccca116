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

#include "pack/midx-write.h"
#include "repack/prune-parts.h"
#include "sys/io.h"
#include "t/unit/nomem.h"
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
 * Prune packs that still have temporary names. An object is wanted if another
 * process may need it. `wanted`: what the callback is_wanted() returns for each
 * object. `asks`: the expected result of prune_unnamed_asks(), which says
 * whether the removal of packs depends on is_wanted(). `expiry`: seconds since
 * 1970; if any of the packs was written later, no pack is removed. Returns the
 * number of removed files that were reported.
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

static void set_times(const struct tmprepo *t, int64_t time)
{
	static const char *const names[] = {FIRST ".pack", FIRST ".idx"};
	char path[512];

	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/pack/%s", t->objects,
			 names[i]);
		assert_int_equal(sys_set_mtime(path, time, NULL), 0);
	}
}

/* A pack of exactly the time of expiry is removed. */
static void time_of_expiry(void **state)
{
	struct tmppack_object blob = {.type = OBJ_BLOB, .text = "one\n"};
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	tmppack_write(&t, "objects", FIRST, &blob, 1, false);
	set_times(&t, 1700000000);
	assert_int_equal(prune(&t, false, false, 1699999999), 0);
	assert_true(is_there(&t, FIRST ".pack"));
	assert_int_equal(prune(&t, false, true, 1700000000), 1);
	assert_false(is_there(&t, FIRST ".pack"));
	tmprepo_release(&t);
}

static bool freshen(void *ctx, const uint8_t *raw)
{
	set_times(ctx, 1700000001);
	return false;
}

/*
 * After a pack without a final name was listed for removal, a process that
 * needs an object of the pack sets the pack's modification time to now. So the
 * pack stays.
 */
static void freshened(void **state)
{
	struct tmppack_object blob = {.type = OBJ_BLOB, .text = "one\n"};
	const struct prune_options o = {.expiry = 1700000000};
	struct prune_unnamed list;
	struct tmprepo t;
	struct odb *odb;

	tmprepo_init(&t, HASH_SHA1);
	tmppack_write(&t, "objects", FIRST, &blob, 1, false);
	set_times(&t, 1700000000);
	assert_int_equal(odb_open_named(&odb, &t.repo, NULL, NULL), 0);
	assert_int_equal(prune_unnamed_list(&list, &t.repo, &o, NULL), 0);
	assert_true(prune_unnamed_asks(&list));
	assert_int_equal(
		prune_unnamed_remove(&list, odb, freshen, &t, &o, NULL), 0);
	assert_true(is_there(&t, FIRST ".pack"));
	assert_true(is_there(&t, FIRST ".idx"));
	prune_unnamed_release(&list);
	odb_close(odb);
	tmprepo_release(&t);
}

static void write_first(void *ctx)
{
	struct tmppack_object blob = {.type = OBJ_BLOB, .text = "one\n"};

	tmppack_write(ctx, "objects", FIRST, &blob, 1, false);
	tmprepo_write(ctx, "objects/pack/" SECOND ".idx", "");
}

static int remove_all(void *ctx, struct error *err)
{
	const struct prune_options o = {.expiry = INT64_MAX};
	struct tmprepo *t = ctx;
	struct prune_unnamed list = {.stays = false};
	bool wanted = false;
	struct odb *odb;
	int ret = odb_open_named(&odb, &t->repo, NULL, err);

	if (ret < 0)
		return ret;
	ret = prune_unnamed_list(&list, &t->repo, &o, err);
	if (!ret)
		assert_true(list.pack_nr == 1 && list.file_nr == 1);
	if (!ret)
		ret = prune_unnamed_remove(&list, odb, is_wanted, &wanted, &o,
					   err);
	prune_unnamed_release(&list);
	odb_close(odb);
	return ret;
}

/*
 * Checks the files after a removal in which an allocation may have failed. If
 * the index of the first pack could not be read, both files of this pack must
 * stay. Otherwise both must be gone. The single .idx file SECOND must be gone
 * in any case.
 */
static void is_removed(void *ctx)
{
	assert_int_equal(is_there(ctx, FIRST ".pack"),
			 is_there(ctx, FIRST ".idx"));
	assert_false(is_there(ctx, SECOND ".idx"));
}

static void no_memory(void **state)
{
	struct tmppack_object blob = {.type = OBJ_BLOB, .text = "two\n"};
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	tmppack_write(&t, "objects", "pack-1", &blob, 1, false);
	nomem_each(write_first, remove_all, is_removed, &t);
	assert_true(is_there(&t, "pack-1.idx"));
	tmprepo_release(&t);
}

/* Write a multi-pack-index with one pack. */
static void write_midx(const struct tmprepo *t, const char *name)
{
	struct pack_midx_source source;
	struct pack_midx_request rq = {
		.packs = &source,
		.pack_nr = 1,
		.version = 1,
		.algo = t->repo.algo,
	};
	struct pack_midx_written written;
	struct buf file = BUF_INIT;
	char path[512], idx_name[128];
	struct pack *pack;

	snprintf(path, sizeof(path), "%s/pack/%s", t->objects, name);
	snprintf(idx_name, sizeof(idx_name), "%s.idx", name);
	assert_int_equal(pack_open(&pack, path, HASH_SHA1, NULL), 0);
	source = (struct pack_midx_source){idx_name, &pack->idx,
					   pack->mtime_ns};
	assert_int_equal(pack_midx_write(&file, &rq, &written, NULL), 0);
	pack_close(pack);
	tmprepo_write_len(t, "objects/pack/multi-pack-index", file.data,
			  file.len);
	buf_release(&file);
}

/*
 * Packs without a final name stay if a multi-pack-index contains one of them,
 * or if the multi-pack-index cannot be read. A multi-pack-index of other packs
 * does not matter.
 */
static void in_multi_pack_index(void **state)
{
	struct tmppack_object blobs[] = {{.type = OBJ_BLOB, .text = "one\n"},
					 {.type = OBJ_BLOB, .text = "two\n"}};
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	tmppack_write(&t, "objects", FIRST, blobs, 2, false);
	tmppack_write(&t, "objects", "pack-1", blobs, 1, false);
	write_midx(&t, FIRST);
	assert_int_equal(prune(&t, false, true, INT64_MAX), 0);
	tmprepo_write(&t, "objects/pack/multi-pack-index", "nonsense");
	assert_int_equal(prune(&t, false, true, INT64_MAX), 0);
	write_midx(&t, "pack-1");
	assert_int_equal(prune(&t, false, true, INT64_MAX), 1);
	assert_false(is_there(&t, FIRST ".pack"));
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
		cmocka_unit_test(time_of_expiry),
		cmocka_unit_test(freshened),
		cmocka_unit_test(no_memory),
		cmocka_unit_test(in_multi_pack_index),
		cmocka_unit_test(single_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
