/* SPDX-License-Identifier: MIT */
/*
 * Tests of generations/history.c, which finds the newest record (manifest) of a
 * repository in a store. They prove that the newest record is found from any
 * number, with few requests, and with or without a hint (a file with a recent
 * number).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>

#include "generations/history.h"
#include "generations/names.h"
#include "t/unit/genhost.h"
#include "t/unit/memstore.h"

struct repo {
	struct memstore mem;
	struct genhost host;
	struct generation_place place;
};

static void repo_init(struct repo *r)
{
	memstore_init(&r->mem);
	genhost_init(&r->host);
	r->place = (struct generation_place){&r->mem.store, &r->host.host,
					     "a/b.git"};
}

static void put_record(struct repo *r, uint64_t number, bool is_retired)
{
	struct generation g = {.number = number, .is_retired = is_retired};
	struct buf name = BUF_INIT, text = BUF_INIT;

	g.parent[0] = number > 1;
	assert_int_equal(generation_record_name(&name, "a/b.git", number, NULL),
			 0);
	assert_int_equal(generation_print(&text, NULL, &g, NULL), 0);
	memstore_write(&r->mem, name.data, text.data, text.len);
	buf_release(&name);
	buf_release(&text);
}

static void put_hint(struct repo *r, const char *text)
{
	memstore_write(&r->mem, "hint/a/b.git/_", text, strlen(text));
}

/*
 * Returns the number of the newest record (manifest). The search starts at the
 * number `at_least`. Sets *requests to the number of requests to the store.
 */
static uint64_t newest(struct repo *r, uint64_t at_least, unsigned *requests)
{
	struct error err = ERROR_INIT;
	struct generation g;
	uint64_t number;

	r->mem.requests = 0;
	if (generation_newest(&g, &r->place, at_least, &err))
		fail_msg("%s", err.msg);
	number = g.number;
	if (requests)
		*requests = r->mem.requests;
	generation_release(&g);
	return number;
}

static void test_host(void **state)
{
	struct generation_host host;
	uint8_t a[16] = {0}, b[16] = {0};
	uint64_t before;

	generation_host_init(&host);
	assert_int_equal(host.threads, GENERATION_THREADS);
	before = host.now_ns(host.ctx);
	host.sleep_ns(host.ctx, 1);
	assert_true(host.now_ns(host.ctx) >= before);
	assert_true(host.time(host.ctx) > 1700000000);
	assert_int_equal(host.random(host.ctx, a, sizeof(a), NULL), 0);
	assert_int_equal(host.random(host.ctx, b, sizeof(b), NULL), 0);
	assert_memory_not_equal(a, b, sizeof(a));
}

static void test_read(void **state)
{
	struct filestore_info info;
	struct generation g;
	struct buf text = BUF_INIT;
	struct repo r;

	repo_init(&r);
	assert_int_equal(generation_newest(&g, &r.place, 0, NULL),
			 STORE_ABSENT);
	assert_int_equal(generation_read(&g, &r.place, 1, NULL), STORE_ABSENT);
	put_record(&r, 1, false);
	r.mem.clock = 77;
	put_record(&r, 2, false);
	assert_int_equal(generation_read_info(&g, &info, &r.place, 2, NULL), 0);
	assert_int_equal(g.number, 2);
	assert_int_equal(info.mtime, 77);
	generation_release(&g);

	/*
	 * Store the bytes of record (manifest) 1 under the name of record 2.
	 * Reading record 2 must fail.
	 */
	assert_int_equal(
		buf_append(&text, r.mem.files[0].bytes, r.mem.files[0].len), 0);
	memstore_write(&r.mem, r.mem.files[1].name, text.data, text.len);
	assert_int_equal(generation_read(&g, &r.place, 2, NULL), ERR_CORRUPT);
	assert_null(g.node);
	buf_release(&text);
	memstore_release(&r.mem);
}

/*
 * The newest record (manifest) is found from each start, for each number of
 * records from 1 to 70.
 */
static void test_newest(void **state)
{
	unsigned requests;
	struct repo r;

	repo_init(&r);
	for (uint64_t n = 1; n <= 70; n++) {
		put_record(&r, n, false);
		for (uint64_t start = 0; start <= n; start++)
			assert_int_equal(newest(&r, start, NULL), n);
		newest(&r, n, &requests);
		assert_int_equal(requests, 2);
		if (n > 1) {
			newest(&r, n - 1, &requests);
			assert_true(requests <= 3);
		}
		/*
		 * The search doubles its steps. So the number of requests is at
		 * most 2 plus twice the binary logarithm of the distance.
		 */
		newest(&r, 1, &requests);
		assert_true(requests <= 2 * 7 + 2);
	}
	assert_int_equal(
		generation_newest(&(struct generation){0}, &r.place, 71, NULL),
		ERR_CORRUPT);
	memstore_release(&r.mem);
}

/*
 * generation_newer() finds a generation (version) that is newer than a given
 * one. If there is none, this must cost only one request.
 */
static void test_newer(void **state)
{
	struct generation g;
	struct repo r;

	repo_init(&r);
	for (uint64_t n = 1; n <= 20; n++) {
		put_record(&r, n, n < 3);
		for (uint64_t known = 0; known < n && n >= 3; known++) {
			r.mem.requests = 0;
			assert_int_equal(
				generation_newer(&g, &r.place, known, NULL), 0);
			assert_int_equal(g.number, n);
			if (known == n - 1)
				assert_int_equal(r.mem.requests, 2);
			generation_release(&g);
		}
		r.mem.requests = 0;
		assert_int_equal(generation_newer(&g, &r.place, n, NULL),
				 STORE_ABSENT);
		assert_int_equal(r.mem.requests, 1);
		assert_null(g.node);
	}
	memstore_release(&r.mem);
}

/*
 * One listing of files tells whether the record (manifest) of a known number is
 * the newest one.
 */
static void test_is_newest(void **state)
{
	bool is_newest;
	struct repo r;

	repo_init(&r);
	for (uint64_t n = 1; n <= 20; n++) {
		put_record(&r, n, n < 3);
		for (uint64_t known = 1; known <= n + 2; known++) {
			r.mem.requests = 0;
			assert_int_equal(generation_is_newest(&is_newest,
							      &r.place, known,
							      NULL),
					 0);
			assert_int_equal(is_newest, known == n);
			assert_int_equal(r.mem.requests, 1);
		}
	}
	memstore_release(&r.mem);
}

static enum memstore_fate be_down(void *ctx, enum memstore_op op,
				  const char *name)
{
	return MEMSTORE_DOWN;
}

static void test_newer_without_store(void **state)
{
	struct generation g;
	struct repo r;

	repo_init(&r);
	put_record(&r, 1, false);
	r.mem.fate = be_down;
	assert_int_equal(generation_newer(&g, &r.place, 1, NULL),
			 STORE_UNAVAILABLE);
	memstore_release(&r.mem);
}

/*
 * The search for the newest record (manifest) may start at a much older record.
 * The number of requests may grow only with the logarithm of the distance.
 */
static void test_far(void **state)
{
	unsigned requests;
	struct repo r;

	repo_init(&r);
	for (uint64_t n = 1; n <= 2000; n++)
		put_record(&r, n, false);
	assert_int_equal(newest(&r, 1, &requests), 2000);
	assert_true(requests <= 2 * 11 + 2);
	assert_int_equal(newest(&r, 0, &requests), 2000);
	assert_true(requests <= 2 * 11 + 3);
	memstore_release(&r.mem);
}

static void test_hint(void **state)
{
	static const char *const useless[] = {
		"",
		"0\n",
		"x\n",
		"12",
		"12\n\n",
		"-1\n",
		"13\n",
		"99\n",
		"4611686018427387903\n",
		"4611686018427387904\n",
		"9223372036854775807\n",
		"9223372036854775808\n",
		"18446744073709551615\n",
		"18446744073709551616\n",
	};
	unsigned requests;
	struct repo r;

	repo_init(&r);
	for (uint64_t n = 1; n <= 12; n++)
		put_record(&r, n, false);
	assert_int_equal(generation_write_hint(&r.place, 12, NULL), 0);
	assert_int_equal(newest(&r, 0, &requests), 12);
	assert_int_equal(requests, 3);
	/*
	 * If the hint (a file with the number of a recent record) is one record
	 * behind, the search needs at most one more request.
	 */
	put_hint(&r, "11\n");
	assert_int_equal(newest(&r, 0, &requests), 12);
	assert_true(requests <= 4);
	for (size_t i = 0; i < ARRAY_NR(useless); i++) {
		struct error err = ERROR_INIT;
		struct generation g;
		int ret;

		put_hint(&r, useless[i]);
		ret = generation_newest(&g, &r.place, 0, &err);
		if (ret || g.number != 12)
			fail_msg("hint %zu: %d %s", i, ret, err.msg);
		generation_release(&g);
	}
	memstore_release(&r.mem);
}

/*
 * A hint is a file with the number of a recent record (manifest). If the record
 * is short enough, the hint has a copy of the record instead.
 * generation_read_hint() returns the copy. It ignores a hint with a number.
 */
static void test_hint_record(void **state)
{
	struct generation g = {.number = 12, .parent = {1}}, read;
	struct generation_file file = {.path = (char *)"config"};
	struct buf path = BUF_INIT;
	unsigned requests;
	struct repo r;

	repo_init(&r);
	for (uint64_t n = 1; n <= 12; n++)
		put_record(&r, n, false);
	assert_int_equal(generation_read_hint(&read, &r.place, NULL),
			 STORE_ABSENT);
	put_hint(&r, "12\n");
	assert_int_equal(generation_read_hint(&read, &r.place, NULL),
			 STORE_ABSENT);
	assert_int_equal(generation_add_file(&g, &file, NULL), 0);
	assert_int_equal(generation_write_hint_record(&r.place, &g, NULL), 0);
	assert_int_equal(generation_read_hint(&read, &r.place, NULL), 0);
	assert_int_equal(read.number, 12);
	assert_int_equal(read.file_nr, 1);
	assert_string_equal(read.files[0].path, "config");
	generation_release(&read);
	assert_int_equal(newest(&r, 0, &requests), 12);
	assert_int_equal(requests, 3);

	/*
	 * The hint (a file by which readers find a recent record) may hold a
	 * copy of this record (manifest). If the copy is damaged, the hint
	 * counts as missing.
	 */
	put_hint(&r, "gitreach generation 1\nnumber 12\n");
	assert_int_equal(generation_read_hint(&read, &r.place, NULL),
			 STORE_ABSENT);
	assert_int_equal(newest(&r, 0, NULL), 12);

	/*
	 * If the record (manifest) is too long to be copied into the hint, the
	 * hint gets only the number of the record.
	 */
	file.path = path.data;
	for (unsigned i = 0; i < 40; i++) {
		buf_reset(&path);
		assert_int_equal(buf_printf(&path, "%02u%01998u", i, 0U), 0);
		file.path = path.data;
		assert_int_equal(generation_add_file(&g, &file, NULL), 0);
	}
	assert_int_equal(generation_write_hint_record(&r.place, &g, NULL), 0);
	assert_int_equal(generation_read_hint(&read, &r.place, NULL),
			 STORE_ABSENT);
	assert_int_equal(newest(&r, 0, &requests), 12);
	assert_int_equal(requests, 3);
	put_hint(&r, path.data);
	assert_int_equal(generation_read_hint(&read, &r.place, NULL),
			 STORE_ABSENT);
	buf_release(&path);
	generation_release(&g);
	memstore_release(&r.mem);
}

static enum memstore_fate fail_records(void *ctx, enum memstore_op op,
				       const char *name)
{
	return strstr(name, "/gen/") ? *(enum memstore_fate *)ctx
				     : MEMSTORE_NORMAL;
}

static void test_failures(void **state)
{
	enum memstore_fate fate = MEMSTORE_DOWN;
	struct generation g;
	struct repo r;

	repo_init(&r);
	put_record(&r, 1, false);
	r.mem.fate = fail_records;
	r.mem.ctx = &fate;
	assert_int_equal(generation_newest(&g, &r.place, 0, NULL),
			 STORE_UNAVAILABLE);
	assert_int_equal(generation_newest(&g, &r.place, 1, NULL),
			 STORE_UNAVAILABLE);
	fate = MEMSTORE_ERROR;
	assert_int_equal(generation_newest(&g, &r.place, 1, NULL), ERR_DENIED);
	memstore_release(&r.mem);
}

static enum memstore_fate fail_hints(void *ctx, enum memstore_op op,
				     const char *name)
{
	return strncmp(name, "hint/", 5) ? MEMSTORE_NORMAL
					 : *(enum memstore_fate *)ctx;
}

/*
 * The search for the newest record (manifest) starts with a request that reads
 * the hint: a file with the number of a recent record. This request may fail.
 * If the store is unavailable, the search ends, and sends no other request. If
 * the store answers with an error, the search finds the newest record without
 * the hint. An invalid name of a repository is an error.
 */
static void test_hint_fails(void **state)
{
	enum memstore_fate fate = MEMSTORE_DOWN;
	struct error err = ERROR_INIT;
	struct generation g;
	struct repo r;

	repo_init(&r);
	put_record(&r, 1, false);
	r.mem.fate = fail_hints;
	r.mem.ctx = &fate;
	r.mem.requests = 0;
	assert_int_equal(generation_newest(&g, &r.place, 0, &err),
			 STORE_UNAVAILABLE);
	assert_int_equal(r.mem.requests, 1);
	fate = MEMSTORE_ERROR;
	assert_int_equal(newest(&r, 0, NULL), 1);
	r.place.repository = "../x";
	assert_int_equal(generation_newest(&g, &r.place, 0, &err), ERR_INVALID);
	memstore_release(&r.mem);
}

struct retiring {
	struct repo *r;
	unsigned left;
};

/*
 * Callback that retires (empties) record 1 between two requests, as a garbage
 * collection of another process can.
 */
static enum memstore_fate retire(void *ctx, enum memstore_op op,
				 const char *name)
{
	struct retiring *x = ctx;

	if (op == MEMSTORE_READ && x->left && !--x->left) {
		put_record(x->r, 1, true);
		put_record(x->r, 2, false);
	}
	return MEMSTORE_NORMAL;
}

static void test_retired(void **state)
{
	struct retiring x;
	struct generation g;
	struct repo r;

	repo_init(&r);
	x = (struct retiring){&r, 2};
	put_record(&r, 1, false);
	r.mem.fate = retire;
	r.mem.ctx = &x;
	assert_int_equal(newest(&r, 1, NULL), 2);
	assert_int_equal(x.left, 0);
	/*
	 * A garbage collection never retires (empties) the newest record
	 * (manifest). So it is an error if the newest record is retired.
	 */
	put_record(&r, 2, true);
	assert_int_equal(generation_newest(&g, &r.place, 1, NULL), ERR_CORRUPT);
	memstore_release(&r.mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_host),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_newest),
		cmocka_unit_test(test_far),
		cmocka_unit_test(test_hint),
		cmocka_unit_test(test_hint_record),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_hint_fails),
		cmocka_unit_test(test_retired),
		cmocka_unit_test(test_newer),
		cmocka_unit_test(test_is_newest),
		cmocka_unit_test(test_newer_without_store),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
