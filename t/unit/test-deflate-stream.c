/* SPDX-License-Identifier: MIT */
/*
 * Tests of pack/deflate-stream.c, which compresses data in pieces. They prove
 * that the stream inflates to the same data.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "pack/inflate.h"
#include "t/unit/nomem.h"
#include "t/unit/random.h"

static void check(uint64_t *seed, size_t len, size_t piece_max, int level)
{
	struct deflate_stream *ds = deflate_stream_new(level);
	struct inflater *inf = inflater_new();
	uint8_t *text = mem_alloc(len, 1), *back = mem_alloc(len, 1);
	struct buf out = BUF_INIT;
	size_t used, at = 0;

	assert_non_null(ds);
	for (size_t i = 0; i < len; i++)
		text[i] = (uint8_t)(random_next(seed) % 20);
	while (at < len) {
		size_t n = random_next(seed) % piece_max;

		n = n < len - at ? n : len - at;
		assert_int_equal(
			deflate_stream_feed(ds, &out, text + at, n, false), 0);
		at += n;
	}
	assert_int_equal(deflate_stream_feed(ds, &out, NULL, 0, true), 0);
	assert_int_equal(
		inflater_exact(inf, back, len, out.data, out.len, &used), 0);
	assert_int_equal(used, out.len);
	assert_memory_equal(back, text, len);
	buf_release(&out);
	free(text);
	free(back);
	inflater_free(inf);
	deflate_stream_free(ds);
}

static void test_pieces(void **state)
{
	uint64_t seed = random_seed();

	check(&seed, 0, 1, -1);
	check(&seed, 1, 2, 1);
	check(&seed, 100, 10, 9);
	check(&seed, 300000, 20000, 1);
	check(&seed, 300000, 200000, 0);
}

static int feed(void *ctx, struct error *err)
{
	struct deflate_stream *ds = deflate_stream_new(1);
	struct buf *out = ctx;
	int ret = ds ? 0 : ERR_NOMEM;

	buf_release(out);
	if (!ret)
		ret = deflate_stream_feed(ds, out, "abc", 3, true);
	deflate_stream_free(ds);
	return ret < 0 ? error_nomem(err) : 0;
}

static void check_fed(void *ctx)
{
	const struct buf *out = ctx;
	struct inflater *inf = inflater_new();
	char back[3];
	size_t used;

	assert_non_null(inf);
	assert_int_equal(
		inflater_exact(inf, back, 3, out->data, out->len, &used), 0);
	assert_memory_equal(back, "abc", 3);
	inflater_free(inf);
}

static void test_no_memory(void **state)
{
	struct buf out = BUF_INIT;

	nomem_each(NULL, feed, check_fed, &out);
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
