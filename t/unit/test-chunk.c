/* SPDX-License-Identifier: MIT */
/*
 * Tests of http1/chunk.c, which writes chunked HTTP bodies. They prove that
 * http1/body.c can read such a body.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "http1/body.h"
#include "http1/chunk.h"

static void check(uint64_t len, bool is_first, const char *expected)
{
	char out[HTTP1_CHUNK_HEAD_MAX];
	size_t n = http1_chunk_head(out, len, is_first);

	assert_int_equal(n, strlen(expected));
	assert_memory_equal(out, expected, n);
}

static void test_heads(void **state)
{
	check(1, true, "1\r\n");
	check(15, false, "\r\nf\r\n");
	check(16, true, "10\r\n");
	check(65536, false, "\r\n10000\r\n");
	check(UINT64_MAX, false, "\r\nffffffffffffffff\r\n");
	check(UINT64_C(1) << 63, true, "8000000000000000\r\n");
	check(0, true, "0\r\n\r\n");
	check(0, false, "\r\n0\r\n\r\n");
}

/*
 * http1/body.c finds the length of each chunk that http1/chunk.c has written.
 */
static void test_back(void **state)
{
	static const struct http1_head head = {.framing = HTTP1_CHUNKED};

	for (int shift = 0; shift < 64; shift++) {
		char out[HTTP1_CHUNK_HEAD_MAX];
		uint64_t len = UINT64_MAX >> shift;
		size_t n = http1_chunk_head(out, len, true);
		struct http1_body body;
		struct http1_piece piece;

		http1_body_init(&body, &head);
		assert_int_equal(http1_body_next(&body, out, n, &piece, NULL),
				 0);
		assert_int_equal(piece.off, n);
		assert_int_equal(body.left, len);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heads),
		cmocka_unit_test(test_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
