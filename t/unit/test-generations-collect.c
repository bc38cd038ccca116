/* SPDX-License-Identifier: MIT */
/*
 * Tests of generations/collect.c, the garbage collection of a repository in a
 * store. They prove that unneeded files and records (manifests) are removed. A
 * needed file must never be removed, even if the store fails.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "generations/collect.h"
#include "generations/names.h"
#include "t/unit/genhost.h"
#include "t/unit/memstore.h"

#define GRACE 100

struct repo {
	struct memstore mem;
	struct genhost host;
	struct generation_place place;
	struct generation base;
	/*
	 * How a chosen request ends. A request is chosen if its operation is
	 * `op` and its file name contains `part`.
	 */
	enum memstore_fate fate;
	enum memstore_op op;
	const char *part; /* a part of the file name */
	/*
	 * Number of matching requests (see `op` and `part`) that still succeed.
	 * Later ones end as `fate` says.
	 */
	unsigned after;
};

static enum memstore_fate decide(void *ctx, enum memstore_op op,
				 const char *name)
{
	struct repo *r = ctx;

	if (!r->part || op != r->op || !strstr(name, r->part))
		return MEMSTORE_NORMAL;
	if (!r->after)
		return r->fate;
	r->after--;
	return MEMSTORE_NORMAL;
}

static void repo_init(struct repo *r)
{
	memset(r, 0, sizeof(*r));
	memstore_init(&r->mem);
	genhost_init(&r->host);
	r->place = (struct generation_place){&r->mem.store, &r->host.host, "r"};
	r->mem.fate = decide;
	r->mem.ctx = r;
}

static void repo_release(struct repo *r)
{
	generation_release(&r->base);
	memstore_release(&r->mem);
}

/*
 * Makes a generation (version) that adds the file `add` and no longer has the
 * file `drop`. `add` and `drop` may be NULL.
 */
static void commit(struct repo *r, const char *add, const char *drop)
{
	struct generation_upload up = genhost_upload(add, add);
	struct generation_change change = {
		.seen = r->base.number,
		.uploads = &up,
		.upload_nr = 1,
		.session_ns = 1,
	};

	if (drop) {
		change.drops = generation_find_file(&r->base, drop);
		change.drop_nr = 1;
		assert_non_null(change.drops);
	}
	assert_int_equal(generation_commit(&r->base, &r->place, &change, NULL),
			 0);
}

static struct generation_garbage collect(struct repo *r, int64_t grace,
					 bool is_dry, int result)
{
	struct generation_collect_options options = {grace, is_dry};
	struct generation_garbage out;
	struct error err = ERROR_INIT;
	int ret = generation_collect(&out, &r->place, &options, &err);

	if (ret != result)
		fail_msg("%d %s", ret, err.msg);
	return out;
}

static unsigned count(struct repo *r, const char *part)
{
	unsigned nr = 0;

	for (size_t i = 0; i < r->mem.nr; i++)
		nr += strstr(r->mem.files[i].name, part) != NULL;
	return nr;
}

static bool is_retired(struct repo *r, uint64_t number)
{
	struct generation g;
	bool retired;

	assert_int_equal(generation_read(&g, &r->place, number, NULL), 0);
	retired = g.is_retired;
	generation_release(&g);
	return retired;
}

static void test_none(void **state)
{
	struct repo r;

	repo_init(&r);
	collect(&r, 0, false, ERR_INVALID);
	collect(&r, GRACE, false, STORE_ABSENT);
	assert_int_equal(r.mem.nr, 0);
	repo_release(&r);
}

/*
 * A file that a generation (version) has dropped is deleted only when this
 * generation is older than the grace period.
 */
static void test_grace(void **state)
{
	struct generation_garbage g;
	struct repo r;

	repo_init(&r);
	commit(&r, "a", NULL);
	r.mem.clock += 10 * GRACE;
	commit(&r, "b", "a");
	g = collect(&r, GRACE, false, 0);
	assert_int_equal(g.kept_nr, 2);
	r.mem.clock += GRACE;
	g = collect(&r, GRACE, false, 0);
	assert_int_equal(g.kept_nr, 2);
	assert_int_equal(g.retired_nr, 0);
	r.mem.clock += 1;
	g = collect(&r, GRACE, true, 0);
	assert_int_equal(g.file_nr, 1);
	assert_int_equal(g.bytes, 1);
	assert_int_equal(g.retired_nr, 1);
	assert_int_equal(count(&r, "/file/"), 2);
	assert_false(is_retired(&r, 1));
	g = collect(&r, GRACE, false, 0);
	assert_int_equal(g.file_nr, 1);
	assert_int_equal(g.kept_nr, 1);
	assert_int_equal(g.retired_nr, 1);
	assert_int_equal(count(&r, "/file/"), 1);
	assert_int_equal(count(&r, "/gen/"), 2);
	assert_true(is_retired(&r, 1));
	g = collect(&r, GRACE, false, 0);
	assert_int_equal(g.file_nr + g.retired_nr, 0);
	/*
	 * After the collection, later generations (versions) can be made as
	 * before.
	 */
	commit(&r, "c", NULL);
	assert_int_equal(r.base.number, 3);
	repo_release(&r);
}

/*
 * No record (manifest) lists this file. Either the writer has not made the
 * record yet, or the writer has died.
 */
static void test_unnamed(void **state)
{
	struct generation_upload up = genhost_upload("x", "xyz");
	struct generation_garbage g;
	struct buf name = BUF_INIT;
	struct repo r;

	repo_init(&r);
	commit(&r, "a", NULL);
	assert_int_equal(generation_file_name(&name, "r", &up.file, NULL), 0);
	memstore_write(&r.mem, name.data, "xyz", 3);
	memstore_write(&r.mem, "repo/r/_/file/other", "xyz", 3);
	memstore_write(&r.mem, "repo/r/_/gen/other", "xyz", 3);
	memstore_write(&r.mem, "repo/r/a/_/file/x", "xyz", 3);
	/*
	 * The collector must use the clock of the store. Here, the clock of the
	 * collector's machine is ahead: by this clock, all files would seem
	 * old.
	 */
	r.host.seconds += 1000 * GRACE;
	r.host.now_ns += 1000 * GRACE * (uint64_t)1000000000;
	g = collect(&r, GRACE, false, 0);
	assert_int_equal(g.young_nr, 1);
	assert_int_equal(g.kept_nr, 1);
	r.mem.clock += GRACE + 1;
	g = collect(&r, GRACE, false, 0);
	assert_int_equal(g.file_nr, 1);
	assert_int_equal(g.bytes, 3);
	assert_null(memstore_find(&r.mem, name.data));
	assert_int_equal(r.mem.nr, 6);
	buf_release(&name);
	repo_release(&r);
}

/*
 * Old records (manifests) are retired (emptied), the oldest first. If the store
 * fails in between, a later collection continues.
 */
static void test_retire(void **state)
{
	struct generation_garbage g;
	char path[16];
	struct repo r;

	repo_init(&r);
	for (unsigned i = 0; i < 6; i++) {
		snprintf(path, sizeof(path), "f%u", i);
		commit(&r, path, NULL);
	}
	r.mem.clock += GRACE + 1;
	r.part = "/gen/";
	r.op = MEMSTORE_PUT;
	r.fate = MEMSTORE_DOWN;
	r.after = 2;
	collect(&r, GRACE, false, STORE_UNAVAILABLE);
	for (uint64_t n = 1; n <= 6; n++)
		assert_int_equal(is_retired(&r, n), n <= 2);
	r.part = NULL;
	g = collect(&r, GRACE, false, 0);
	assert_int_equal(g.retired_nr, 3);
	assert_int_equal(g.kept_nr, 6);
	for (uint64_t n = 1; n <= 6; n++)
		assert_int_equal(is_retired(&r, n), n <= 5);
	repo_release(&r);
}

/*
 * With threads, records (manifests) are read before it is known which records
 * are needed. A record is not needed if it is older than the newest retired
 * (emptied) record. It is no error if such a record cannot be read.
 */
static void test_read_ahead(void **state)
{
	for (unsigned threads = 1; threads <= 4; threads += 3) {
		struct generation_garbage g;
		char path[16];
		struct repo r;

		repo_init(&r);
		r.host.host.threads = threads;
		for (unsigned i = 0; i < 30; i++) {
			snprintf(path, sizeof(path), "f%u", i);
			commit(&r, path, i == 20 ? "f3" : NULL);
			r.mem.clock += 10;
		}
		/*
		 * Generation (version) 9 has a successor that is older than the
		 * grace period. So the records (manifests) up to 9 are retired
		 * (emptied).
		 */
		g = collect(&r, 200, false, 0);
		assert_int_equal(g.retired_nr, 9);
		assert_int_equal(g.file_nr, 0);
		assert_int_equal(g.kept_nr, 30);
		r.part = "/gen/0000000000000007";
		r.op = MEMSTORE_READ;
		r.fate = MEMSTORE_DOWN;
		r.mem.clock += 120;
		g = collect(&r, 200, false, 0);
		assert_int_equal(g.retired_nr, 12);
		assert_int_equal(g.file_nr, 1);
		r.part = "/gen/0000000000000018";
		collect(&r, 200, false, STORE_UNAVAILABLE);
		repo_release(&r);
	}
}

/*
 * Nothing is deleted if records (manifests) cannot be read, or if the time of
 * the store is unknown.
 */
static void test_failures(void **state)
{
	static const struct {
		enum memstore_op op;
		const char *part;
		unsigned after;
		enum memstore_fate fate;
		int result;
	} cases[] = {
		{MEMSTORE_READ, "/gen/", 0, MEMSTORE_DOWN, STORE_UNAVAILABLE},
		{MEMSTORE_READ, "/gen/", 5, MEMSTORE_DOWN, STORE_UNAVAILABLE},
		{MEMSTORE_READ, "/gen/", 6, MEMSTORE_ERROR, ERR_DENIED},
		/*
		 * All HEAD requests fail. From the response to such a request,
		 * the collector learns the present time of the store. It
		 * requests the hint (a small file that the collector has just
		 * written), or else a record (manifest). Without the time, the
		 * collection fails.
		 */
		{MEMSTORE_HEAD, "", 0, MEMSTORE_ERROR, ERR_DENIED},
		{MEMSTORE_HEAD, "", 0, MEMSTORE_DOWN, STORE_UNAVAILABLE},
		{MEMSTORE_LIST, "/file/", 0, MEMSTORE_DOWN, STORE_UNAVAILABLE},
		{MEMSTORE_DELETE, "/file/", 0, MEMSTORE_ERROR, ERR_DENIED},
		{MEMSTORE_DELETE, "/file/", 0, MEMSTORE_NOTHING, 0},
		{MEMSTORE_DELETE, "/file/", 0, MEMSTORE_DOWN, 0},
	};

	for (size_t i = 0; i < ARRAY_NR(cases); i++) {
		struct generation_garbage g;
		struct repo r;

		repo_init(&r);
		commit(&r, "a", NULL);
		commit(&r, "b", "a");
		commit(&r, "c", NULL);
		r.mem.clock += GRACE + 1;
		r.op = cases[i].op;
		r.part = cases[i].part;
		r.after = cases[i].after;
		r.fate = cases[i].fate;
		g = collect(&r, GRACE, false, cases[i].result);
		assert_int_equal(r.after, 0);
		assert_int_equal(g.file_nr, 0);
		/*
		 * The collection counts a file in failed_nr if the store was
		 * asked to delete it, and the store failed to do so.
		 */
		assert_int_equal(g.failed_nr, cases[i].op == MEMSTORE_DELETE &&
						      !cases[i].result);
		assert_int_equal(count(&r, "/file/"), 3);
		repo_release(&r);
	}
}

/*
 * Decides the result of a request to a full store: each put fails until a file
 * was deleted.
 */
static enum memstore_fate be_full(void *ctx, enum memstore_op op,
				  const char *name)
{
	struct repo *r = ctx;

	(void)name;
	if (op == MEMSTORE_DELETE)
		r->after = 1;
	return op == MEMSTORE_PUT && !r->after ? r->fate : MEMSTORE_NORMAL;
}

/*
 * In a full store, neither the hint nor a record (manifest) can be written, not
 * even a retired (emptied) record. The collection must still delete files, or
 * the store would stay full.
 */
static void test_full(void **state)
{
	static const enum memstore_fate fates[] = {
		MEMSTORE_ERROR, MEMSTORE_DOWN, MEMSTORE_NOTHING};

	for (size_t i = 0; i < ARRAY_NR(fates); i++) {
		struct generation_garbage g;
		struct repo r;

		repo_init(&r);
		commit(&r, "a", NULL);
		commit(&r, "b", "a");
		commit(&r, "c", NULL);
		r.fate = fates[i];
		r.mem.fate = be_full;
		/*
		 * The file "a" was dropped by the next generation (version).
		 * This generation is not yet older than the grace period, so
		 * "a" stays.
		 */
		r.mem.clock += GRACE;
		g = collect(&r, GRACE, false, 0);
		assert_int_equal(g.file_nr + g.retired_nr, 0);
		r.mem.clock++;
		/*
		 * The hint (a small file in the store) cannot be written. So
		 * the collector cannot learn the present time of the store from
		 * the modification time of the hint. The collector then uses
		 * the time of a response or the time of this machine, whichever
		 * is earlier.
		 */
		r.host.seconds = r.mem.clock - 1;
		g = collect(&r, GRACE, false, 0);
		assert_int_equal(g.file_nr + g.retired_nr, 0);
		r.host.seconds = r.mem.clock;
		g = collect(&r, GRACE, false, 0);
		assert_int_equal(g.file_nr, 1);
		assert_int_equal(g.retired_nr, 2);
		assert_int_equal(count(&r, "/file/"), 2);
		assert_true(is_retired(&r, 1) && is_retired(&r, 2));
		assert_false(is_retired(&r, 3));
		repo_release(&r);
	}
}

/*
 * The store gives no times for records (manifests) or for files. Files without
 * a time may be new, so they must not be deleted.
 */
static void test_no_time(void **state)
{
	static const char *const parts[] = {"/gen/", "/file/"};

	for (size_t i = 0; i < ARRAY_NR(parts); i++) {
		struct repo r;

		repo_init(&r);
		commit(&r, "a", NULL);
		commit(&r, "b", "a");
		for (size_t k = 0; k < r.mem.nr; k++)
			if (strstr(r.mem.files[k].name, parts[i]))
				r.mem.files[k].mtime = 0;
		/*
		 * In the second round, the clock advances, so that the grace
		 * period of the dropped file "a" is over. Then "a" stays only
		 * because the store does not give its time.
		 */
		r.mem.clock += i ? GRACE + 1 : 0;
		collect(&r, GRACE, false, ERR_PEER);
		assert_int_equal(count(&r, "/file/"), 2);
		assert_int_equal(is_retired(&r, 1), i);
		repo_release(&r);
	}
}

/*
 * If a record (manifest) is damaged or missing, its files are unknown. So
 * nothing may be deleted.
 */
static void test_damage(void **state)
{
	struct repo r;

	repo_init(&r);
	commit(&r, "a", NULL);
	commit(&r, "b", "a");
	memstore_find(&r.mem, "repo/r/_/gen/0000000000000001")->bytes[40] ^= 1;
	collect(&r, GRACE, false, ERR_CORRUPT);
	memstore_remove(&r.mem, "repo/r/_/gen/0000000000000001");
	collect(&r, GRACE, false, ERR_CORRUPT);
	assert_int_equal(count(&r, "/file/"), 2);
	repo_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_grace),
		cmocka_unit_test(test_unnamed),
		cmocka_unit_test(test_retire),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_no_time),
		cmocka_unit_test(test_read_ahead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
