/* SPDX-License-Identifier: MIT */
/*
 * Tests of http1/body.c, which parses HTTP/1.x request bodies. They prove that
 * bodies with a length and chunked bodies are read to their end, and that
 * invalid chunks are refused. Also tests the framing of chunked responses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "http1/body.h"

/*
 * Read the body in `text`. Each call of http1_body_next() gets at most `step`
 * bytes. Sets *used to the number of bytes taken. Returns 1 if the body has
 * ended, 0 if more input is needed, or ERR_PEER.
 */
static int read_all(struct buf *out, size_t *used, const char *text,
		    size_t step, const struct http1_head *head)
{
	size_t len = strlen(text);
	struct http1_body body;
	struct http1_piece piece;
	int ret;

	*used = 0;
	buf_reset(out);
	http1_body_init(&body, head);
	do {
		size_t n = len - *used < step ? len - *used : step;

		ret = http1_body_next(&body, text + *used, n, &piece, NULL);
		buf_append(out, text + *used + piece.off, piece.len);
		*used += piece.off + piece.len;
	} while (!ret && *used < len);
	return ret ? ret : http1_body_next(&body, "", 0, &piece, NULL);
}

static void check(const char *text, const struct http1_head *head, int expected,
		  const char *data, size_t rest)
{
	for (size_t step = 1; step < 64; step *= 3) {
		struct buf out = BUF_INIT;
		size_t used;

		assert_int_equal(read_all(&out, &used, text, step, head),
				 expected);
		if (data)
			assert_string_equal(out.data, data);
		if (expected > 0)
			assert_int_equal(strlen(text) - used, rest);
		buf_release(&out);
	}
}

static void test_length(void **state)
{
	struct http1_head head = {.framing = HTTP1_LENGTH, .body_len = 5};

	check("helloGET", &head, 1, "hello", 3);
	check("hell", &head, 0, "hell", 0);
	head.body_len = 0;
	check("GET", &head, 1, "", 3);
	head.framing = HTTP1_NO_BODY;
	head.body_len = 7;
	check("GET", &head, 1, "", 3);
}

static void test_chunked(void **state)
{
	static const struct http1_head head = {.framing = HTTP1_CHUNKED};

	check("5\r\nhello\r\n0\r\n\r\nGET", &head, 1, "hello", 3);
	check("1\r\na\r\n0002\r\nbc\r\n000\r\n\r\n", &head, 1, "abc", 0);
	check("A\r\n0123456789\r\n0\r\n\r\n", &head, 1, "0123456789", 0);
	check("1;x=\"y\"\t;z\r\na\r\n0;e\r\nT: v\r\nU:\r\n\r\nx", &head, 1, "a",
	      1);
	check("0\r\n\r\n0\r\n\r\n", &head, 1, "", 5);
	check("5\r\nhel", &head, 0, "hel", 0);
	check("5\r\nhello\r\n0\r\n\r", &head, 0, "hello", 0);
	check("FFFFFFFFFFFFFFFF\r\nx", &head, 0, "x", 0);
}

static void test_bad_chunks(void **state)
{
	static const char *const texts[] = {
		"\r\n",
		" 5\r\n",
		"5 \r\n",
		"5\n",
		"-5\r\n",
		"0x5\r\n",
		"g\r\n",
		";x\r\n",
		"5;a\nb",
		"5;a\rb",
		"5;\x01\r\n",
		"5\rx",
		"1\r\nab",
		"1\r\na\n",
		"1\r\na\rx",
		"1\r\na\r\n\r\n",
		"0\r\n x\r\n",
		"0\r\nA: b\n",
		"0\r\nA: b\rx",
		"0\r\nA\x7f",
		"0\r\n\rx",
		"0\r\n\n",
		"00000000000000005\r\nhello",
		"10000000000000000\r\n",
	};
	static const struct http1_head head = {.framing = HTTP1_CHUNKED};

	for (size_t i = 0; i < ARRAY_NR(texts); i++)
		check(texts[i], &head, ERR_PEER, NULL, 0);
}

/*
 * One limit applies to the total size of all chunk extensions and trailers of a
 * body.
 */
static void test_extra(void **state)
{
	static const struct http1_head head = {.framing = HTTP1_CHUNKED};

	for (size_t nr = HTTP1_BODY_EXTRA_MAX - 1;
	     nr <= HTTP1_BODY_EXTRA_MAX + 1; nr++) {
		struct buf text = BUF_INIT, out = BUF_INIT;
		size_t used;

		buf_append_str(&text, "1;");
		for (size_t i = 0; i < nr - 100; i++)
			buf_append_char(&text, 'x');
		buf_append_str(&text, "\r\na\r\n0\r\n");
		for (size_t i = 0; i < 100; i++)
			buf_append_str(&text, i % 10 == 9 ? "y\r\n" : "y");
		buf_append_str(&text, "\r\n");
		assert_int_equal(read_all(&out, &used, text.data, 1000, &head),
				 nr <= HTTP1_BODY_EXTRA_MAX ? 1 : ERR_PEER);
		buf_release(&text);
		buf_release(&out);
	}
}

static void check_head(uint64_t len, bool is_first, const char *expected)
{
	char out[HTTP1_CHUNK_HEAD_MAX];
	size_t n = http1_chunk_head(out, len, is_first);

	assert_int_equal(n, strlen(expected));
	assert_memory_equal(out, expected, n);
}

static void test_chunk_heads(void **state)
{
	check_head(1, true, "1\r\n");
	check_head(15, false, "\r\nf\r\n");
	check_head(16, true, "10\r\n");
	check_head(65536, false, "\r\n10000\r\n");
	check_head(UINT64_MAX, false, "\r\nffffffffffffffff\r\n");
	check_head(UINT64_C(1) << 63, true, "8000000000000000\r\n");
	check_head(0, true, "0\r\n\r\n");
	check_head(0, false, "\r\n0\r\n\r\n");
}

/*
 * http1_body_next() finds the length of each chunk that http1_chunk_head() has
 * written.
 */
static void test_chunks_are_read(void **state)
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
		cmocka_unit_test(test_length),
		cmocka_unit_test(test_chunked),
		cmocka_unit_test(test_bad_chunks),
		cmocka_unit_test(test_extra),
		cmocka_unit_test(test_chunk_heads),
		cmocka_unit_test(test_chunks_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
