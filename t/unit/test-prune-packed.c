/* SPDX-License-Identifier: MIT */
/*
 * Tests of repack/prune-packed.c, which removes loose objects that are also
 * packed: no object is lost, and no object becomes older.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "odb/odb.h"
#include "pack/mtimes.h"
#include "repack/prune-packed.h"
#include "sys/clock.h"
#include "sys/dirlock.h"
#include "sys/io.h"
#include "t/unit/nomem.h"
#include "t/unit/tmppack.h"

static void count(void *ctx, const char *path)
{
	assert_true(sys_exists(path));
	++*(unsigned *)ctx;
}

/* A loose object is removed if a pack has it. Other loose objects stay. */
static void loose_objects(void **state)
{
	struct tmppack_object packed[] = {{.type = OBJ_BLOB, .text = "one\n"},
					  {.type = OBJ_BLOB, .text = "two\n"}};
	char name[256], hex[OID_MAX_HEX_LEN + 1];
	unsigned removed_nr;
	struct tmprepo t;
	struct odb *odb;
	struct oid one, three;

	tmprepo_init(&t, HASH_SHA1);
	tmppack_write(&t, "objects", "pack-1", packed, 2, false);
	tmppack_loose(&t, "objects", &one, OBJ_BLOB, "one\n", 4);
	tmppack_loose(&t, "objects", &three, OBJ_BLOB, "three\n", 6);
	for (unsigned i = 0; i < 2; i++) {
		struct prune_packed_options options = {
			.removing = count,
			.ctx = &removed_nr,
			.dry_run = !i,
		};

		removed_nr = 0;
		assert_int_equal(prune_packed(&t.repo, &options, NULL), 0);
		assert_int_equal(removed_nr, 1);
		oid_to_hex(hex, &one, HASH_SHA1);
		snprintf(name, sizeof(name), "%s/%.2s", t.objects, hex);
		assert_int_equal(sys_exists(name), !i);
	}
	assert_int_equal(odb_open(&odb, &t.repo, NULL, NULL), 0);
	assert_false(odb_has_loose(odb, &one));
	assert_true(odb_has_loose(odb, &three));
	odb_close(odb);
	oid_to_hex(hex, &three, HASH_SHA1);
	snprintf(name, sizeof(name), "objects/%.2s/%s", hex, hex + 2);
	tmprepo_remove(&t, name);
	tmprepo_release(&t);
}

/*
 * A loose object of time 1000 is also in a pack. If this is a cruft pack, the
 * loose object may be removed only if the .mtimes file states the same or a
 * later time for the object. The modification time of the cruft pack does not
 * matter.
 */
static void times(void **state)
{
	struct tmppack_object packed[] = {{.type = OBJ_BLOB, .text = "one\n"}};

	for (unsigned k = 0; k < 4; k++) {
		const struct prune_packed_options options = {.dry_run = false};
		bool goes = k == 1 || k == 2;
		uint32_t noted = k ? 1000 : 999;
		struct buf mtimes = BUF_INIT, path = BUF_INIT;
		struct sys_stat st;
		struct tmprepo t;
		struct odb *odb;
		struct oid one;

		tmprepo_init(&t, HASH_SHA1);
		tmppack_write(&t, "objects", "pack-1", packed, 1, false);
		tmppack_loose(&t, "objects", &one, OBJ_BLOB, "one\n", 4);
		assert_int_equal(odb_open(&odb, &t.repo, NULL, NULL), 0);
		assert_int_equal(odb_loose_path(&path, odb, t.objects, &one),
				 0);
		assert_int_equal(sys_set_mtime(path.data, 1000, NULL), 0);
		assert_int_equal(
			pack_mtimes_write(&mtimes, &noted, 1,
					  &odb->packs[0].pack->checksum,
					  HASH_SHA1, NULL),
			0);
		if (k == 3)
			mtimes.data[mtimes.len - 1] ^= 1;
		if (k != 2)
			tmprepo_write_len(&t, "objects/pack/pack-1.mtimes",
					  mtimes.data, mtimes.len);
		odb_close(odb);
		buf_reset(&path);
		buf_printf(&path, "%s/pack/pack-1.pack", t.objects);
		assert_int_equal(
			sys_set_mtime(path.data, k == 2 ? 10 : 5000, NULL), 0);
		assert_int_equal(prune_packed(&t.repo, &options, NULL), 0);
		assert_int_equal(odb_open(&odb, &t.repo, NULL, NULL), 0);
		assert_int_equal(odb_has_loose(odb, &one), !goes);
		assert_int_equal(sys_stat(&st, path.data, NULL), 0);
		/*
		 * In case 2, the pack is no cruft pack, and is older than the
		 * loose file that was removed. So the pack's modification time
		 * must be set to now.
		 */
		assert_int_equal(st.mtime_ns / 1000000000 > 5000, k == 2);
		odb_close(odb);
		buf_release(&path);
		buf_release(&mtimes);
		tmprepo_release(&t);
	}
}

/*
 * A loose file is removed because its object is in a pack. If the pack is older
 * than the removed file, the modification time of the pack is set to now.
 * Otherwise the pack keeps its time. A dry run changes no time.
 */
static void times_of_packs(void **state)
{
	struct tmppack_object packed[] = {{.type = OBJ_BLOB, .text = "one\n"}};

	for (unsigned k = 0; k < 4; k++) {
		const struct prune_packed_options options = {.dry_run = k / 2};
		int64_t time = k % 2 ? 5000 : 10;
		char path[4200];
		struct sys_stat st;
		struct tmprepo t;
		struct oid one;

		tmprepo_init(&t, HASH_SHA1);
		tmppack_write(&t, "objects", "pack-1", packed, 1, false);
		tmppack_loose(&t, "objects", &one, OBJ_BLOB, "one\n", 4);
		snprintf(path, sizeof(path), "%s/56/%s", t.objects,
			 "26abf0f72e58d7a153368ba57db4c673c0e171");
		assert_int_equal(sys_set_mtime(path, 1000, NULL), 0);
		snprintf(path, sizeof(path), "%s/pack/pack-1.pack", t.objects);
		assert_int_equal(sys_set_mtime(path, time, NULL), 0);
		assert_int_equal(prune_packed(&t.repo, &options, NULL), 0);
		assert_int_equal(sys_stat(&st, path, NULL), 0);
		if (k)
			assert_int_equal(st.mtime_ns / 1000000000, time);
		else
			assert_true(st.mtime_ns / 1000000000 > 5000);
		tmprepo_release(&t);
	}
}

/*
 * Writes the loose copy of the packed object. If the loose file were newer than
 * the pack, prune_packed() would set the modification time of the pack to now,
 * so that the object does not look older than it is. Here, the loose file is
 * older than the pack. So prune_packed() need not change the time of the pack.
 */
static void write_loose(void *ctx)
{
	struct oid oid;
	const struct tmprepo *t = ctx;
	char path[4200];

	tmppack_loose(t, "objects", &oid, OBJ_BLOB, "one\n", 4);
	snprintf(path, sizeof(path), "%s/56/%s", t->objects,
		 "26abf0f72e58d7a153368ba57db4c673c0e171");
	assert_int_equal(sys_set_mtime(path, 1000, NULL), 0);
}

static int run(void *ctx, struct error *err)
{
	const struct prune_packed_options options = {.dry_run = false};
	const struct tmprepo *t = ctx;

	return prune_packed(&t->repo, &options, err);
}

/* Asserts that the loose object is gone, together with its directory. */
static void is_done(void *ctx)
{
	const struct tmprepo *t = ctx;
	char path[4200];

	snprintf(path, sizeof(path), "%s/56", t->objects);
	assert_false(sys_exists(path));
}

static void put_text(void *ctx, const char *text, size_t len)
{
	assert_int_equal(buf_append(ctx, text, len), 0);
}

/*
 * The progress meter shows how many of the 256 directories of loose objects
 * were visited.
 */
static void progress_by_directory(void **state)
{
	struct tmppack_object packed[] = {{.type = OBJ_BLOB, .text = "one\n"}};
	struct buf text = BUF_INIT;
	const struct progress_out progress = {.put = put_text, .ctx = &text};
	const struct prune_packed_options options = {.progress = &progress};
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	tmppack_write(&t, "objects", "pack-1", packed, 1, false);
	write_loose(&t);
	assert_int_equal(prune_packed(&t.repo, &options, NULL), 0);
	/*
	 * The loose object is in the directory objects/56 (hexadecimal), the
	 * 87th of 256.
	 */
	assert_non_null(strstr(text.data, " 33% (87/256)"));
	assert_non_null(strstr(text.data, "100% (256/256), done."));
	buf_release(&text);
	tmprepo_release(&t);
}

enum { SLOW_NR = 60, SLOW_NS = 20000000 };

/* Another process that removes the only pack. It waits for the lock. */
struct remover {
	const struct tmprepo *t;
	pthread_t thread;
	unsigned removed_nr; /* number of loose objects removed until now */
};

static void *remove_pack(void *ctx)
{
	const struct remover *r = ctx;
	char dir[4200];
	int lock;

	snprintf(dir, sizeof(dir), "%s/pack", r->t->objects);
	lock = sys_dirlock_take(dir, SLOW_NR * SLOW_NS / 1000000 / 2, NULL);
	if (lock >= 0)
		tmprepo_remove(r->t, "objects/pack/pack-1.idx");
	sys_dirlock_drop(lock);
	return NULL;
}

/* Starts the other process at the first removal. Makes each removal slow. */
static void remove_slowly(void *ctx, const char *path)
{
	struct remover *r = ctx;
	char idx[4200];

	snprintf(idx, sizeof(idx), "%s/pack/pack-1.idx", r->t->objects);
	assert_true(sys_exists(idx));
	if (!r->removed_nr++)
		assert_int_equal(
			pthread_create(&r->thread, NULL, remove_pack, r), 0);
	sys_sleep_ns(SLOW_NS);
}

/*
 * Many loose objects are removed. Another process that waits for the lock of
 * the pack directory gets the lock meanwhile, and removes the pack. No loose
 * object is removed afterwards.
 */
static void lock_is_shared(void **state)
{
	struct tmppack_object packed[SLOW_NR];
	char texts[SLOW_NR][16];
	struct remover r = {.removed_nr = 0};
	const struct prune_packed_options options = {
		.removing = remove_slowly,
		.ctx = &r,
	};
	struct tmprepo t;
	struct oid oid;

	tmprepo_init(&t, HASH_SHA1);
	r.t = &t;
	for (unsigned i = 0; i < SLOW_NR; i++) {
		snprintf(texts[i], sizeof(texts[i]), "%u\n", i);
		packed[i] = (struct tmppack_object){.type = OBJ_BLOB,
						    .text = texts[i]};
		tmppack_loose(&t, "objects", &oid, OBJ_BLOB, texts[i],
			      strlen(texts[i]));
	}
	tmppack_write(&t, "objects", "pack-1", packed, SLOW_NR, false);
	assert_int_equal(prune_packed(&t.repo, &options, NULL), 0);
	assert_true(r.removed_nr > 0 && r.removed_nr < SLOW_NR);
	assert_int_equal(pthread_join(r.thread, NULL), 0);
	tmprepo_release(&t);
}

static void count_warning(void *ctx, const char *message)
{
	assert_non_null(strstr(message, "another process has locked '"));
	++*(unsigned *)ctx;
}

/*
 * Another process keeps the lock of the pack directory. The loose object stays,
 * and there is a warning. A dry run needs no lock.
 */
static void lock_is_kept(void **state)
{
	struct tmppack_object packed[] = {{.type = OBJ_BLOB, .text = "one\n"}};
	unsigned warned = 0;
	struct prune_packed_options options = {
		.warn = count_warning,
		.ctx = &warned,
		.dry_run = true,
	};
	char path[4200];
	struct tmprepo t;
	uint64_t began;
	int lock;

	tmprepo_init(&t, HASH_SHA1);
	tmppack_write(&t, "objects", "pack-1", packed, 1, false);
	write_loose(&t);
	snprintf(path, sizeof(path), "%s/pack", t.objects);
	lock = sys_dirlock_take(path, 0, NULL);
	assert_true(lock >= 0 && lock != SYS_DIRLOCK_NONE);
	assert_int_equal(prune_packed(&t.repo, &options, NULL), 0);
	assert_int_equal(warned, 0);
	options.dry_run = false;
	began = sys_clock_ns();
	assert_int_equal(prune_packed(&t.repo, &options, NULL), 0);
	assert_true(sys_clock_ns() - began >=
		    PRUNE_PACKED_LOCK_MS * UINT64_C(1000000));
	assert_int_equal(warned, 1);
	snprintf(path, sizeof(path), "%s/56", t.objects);
	assert_true(sys_exists(path));
	sys_dirlock_drop(lock);
	assert_int_equal(prune_packed(&t.repo, &options, NULL), 0);
	assert_int_equal(warned, 1);
	is_done(&t);
	tmprepo_release(&t);
}

static void no_memory(void **state)
{
	struct tmppack_object packed[] = {{.type = OBJ_BLOB, .text = "one\n"}};
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	tmppack_write(&t, "objects", "pack-1", packed, 1, false);
	nomem_each(write_loose, run, is_done, &t);
	tmprepo_release(&t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(loose_objects),
		cmocka_unit_test(times),
		cmocka_unit_test(times_of_packs),
		cmocka_unit_test(progress_by_directory),
		cmocka_unit_test(lock_is_shared),
		cmocka_unit_test(lock_is_kept),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
