/* SPDX-License-Identifier: MIT */
/*
 * Tests of http/http-body.c, which reads the body of an HTTP request. They
 * prove that lengths, limits and gzip are handled, in whatever pieces the input
 * comes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "http/http-request.h"

#define LEN 100000

/* An input from memory. One read returns at most `piece` bytes. */
struct input {
	const uint8_t *bytes;
	size_t len, at, piece;
	bool fail_at_end;
};

static ssize_t give(void *ctx, void *bytes, size_t len, struct error *err)
{
	struct input *in = ctx;
	size_t n = in->len - in->at;

	if (!n && in->fail_at_end)
		return error_set(err, ERR_IO, "broken");
	n = n < in->piece ? n : in->piece;
	n = n < len ? n : len;
	memcpy(bytes, in->bytes + in->at, n);
	in->at += n;
	return (ssize_t)n;
}

/*
 * Test data: LEN bytes that can be compressed a little, and their gzip stream.
 */
struct sample {
	uint8_t plain[LEN], packed[LEN * 2];
	size_t packed_len;
};

static struct sample *sample_new(void)
{
	struct sample *s = calloc(1, sizeof(*s));
	z_stream z = {0};

	assert_non_null(s);
	for (size_t i = 0; i < LEN; i++)
		s->plain[i] = (uint8_t)(i * i >> 7 | (i & 3));
	assert_int_equal(
		deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY),
		Z_OK);
	z.next_in = s->plain;
	z.avail_in = LEN;
	z.next_out = s->packed;
	z.avail_out = sizeof(s->packed);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	s->packed_len = z.total_out;
	deflateEnd(&z);
	return s;
}

/*
 * Open a body and read it to its end. A body of more than `max` bytes is an
 * error. Returns 0 or the negative error code of the function that failed.
 */
static int read_all(struct buf *out, struct input *in, const char *length,
		    const char *encoding, uint64_t max, struct error *err)
{
	struct serve_io io = {.read = give, .ctx = in};
	struct http_body *body;
	int ret = http_body_open(&body, &io, length, encoding, err);

	buf_reset(out);
	if (ret < 0) {
		assert_null(body);
		return ret;
	}
	ret = http_body_read_all(body, out, max, err);
	http_body_close(body);
	return ret;
}

static void test_round_trips(void **state)
{
	static const size_t pieces[] = {1, 7, 4096, LEN * 2};
	struct sample *s = sample_new();
	struct buf out = BUF_INIT;

	for (size_t i = 0; i < ARRAY_NR(pieces); i++) {
		struct input plain = {s->plain, LEN, 0, pieces[i], false};
		struct input packed = {s->packed, s->packed_len, 0, pieces[i],
				       false};

		assert_int_equal(read_all(&out, &plain, NULL, NULL, LEN, NULL),
				 0);
		assert_int_equal(out.len, LEN);
		assert_memory_equal(out.data, s->plain, LEN);
		assert_int_equal(read_all(&out, &packed, "",
					  i % 2 ? "x-gzip" : "gzip", LEN, NULL),
				 0);
		assert_int_equal(out.len, LEN);
		assert_memory_equal(out.data, s->plain, LEN);
	}
	buf_release(&out);
	free(s);
}

/*
 * A gzip stream may have several members. After the last member, bytes that do
 * not start another member are ignored.
 */
static void test_members(void **state)
{
	static const size_t pieces[] = {1, 7, 4096, LEN * 8};
	struct sample *s = sample_new();
	struct buf out = BUF_INIT, members = BUF_INIT;

	for (size_t i = 0; i < 3; i++)
		buf_append(&members, s->packed, s->packed_len);
	for (size_t i = 0; i < ARRAY_NR(pieces); i++) {
		struct input in = {(const uint8_t *)members.data, members.len,
				   0, pieces[i], false};
		struct error err = ERROR_INIT;

		assert_int_equal(
			read_all(&out, &in, NULL, "gzip", 3 * LEN, NULL), 0);
		assert_int_equal(out.len, 3 * LEN);
		for (size_t j = 0; j < 3; j++)
			assert_memory_equal(out.data + j * LEN, s->plain, LEN);
		in.at = 0;
		in.len = members.len - 1;
		assert_int_equal(
			read_all(&out, &in, NULL, "gzip", 3 * LEN, &err),
			ERR_PEER);
	}
	buf_append_str(&members, "and more");
	{
		struct input in = {(const uint8_t *)members.data, members.len,
				   0, 4096, false};

		assert_int_equal(
			read_all(&out, &in, NULL, "gzip", 3 * LEN, NULL), 0);
		assert_int_equal(out.len, 3 * LEN);
	}
	buf_release(&members);
	buf_release(&out);
	free(s);
}

static void test_lengths(void **state)
{
	static const struct {
		const char *length;
		int ret;
		size_t len;
	} cases[] = {
		{"0", 0, 0},
		{"3", 0, 3},
		{"6", 0, 6},
		{"7", 0, 6}, /* the input ends too early */
		{"18446744073709551615", 0, 6},
		{"18446744073709551616", ERR_INVALID, 0},
		{"-1", ERR_INVALID, 0},
		{"1k", ERR_INVALID, 0},
		{" 3", ERR_INVALID, 0},
		{"x", ERR_INVALID, 0},
	};
	struct buf out = BUF_INIT;

	for (size_t i = 0; i < ARRAY_NR(cases); i++) {
		struct input in = {(const uint8_t *)"abcdef", 6, 0, 2, false};

		assert_int_equal(
			read_all(&out, &in, cases[i].length, NULL, 100, NULL),
			cases[i].ret);
		assert_int_equal(out.len, cases[i].len);
		assert_memory_equal(out.data, "abcdef", cases[i].len);
		/* Reading a body must not take bytes of the next request. */
		assert_int_equal(in.at, cases[i].len);
	}
	buf_release(&out);
}

static void test_limits(void **state)
{
	struct sample *s = sample_new();
	struct error err = ERROR_INIT;
	struct buf out = BUF_INIT;

	for (int packed = 0; packed < 2; packed++) {
		struct input in = {packed ? s->packed : s->plain,
				   packed ? s->packed_len : LEN, 0, LEN, false};
		const char *encoding = packed ? "gzip" : NULL;

		assert_int_equal(
			read_all(&out, &in, NULL, encoding, LEN - 1, &err),
			ERR_DENIED);
		assert_non_null(strstr(err.msg, "larger than our maximum"));
		assert_true(out.len < LEN);
		in.at = 0;
		assert_int_equal(read_all(&out, &in, NULL, encoding, LEN, &err),
				 0);
	}
	buf_release(&out);
	free(s);
}

static void test_encodings(void **state)
{
	static const struct {
		const char *encoding;
		int ret;
	} cases[] = {
		{"", 0},
		{"identity", 0},
		{"GZIP", ERR_PEER},
		{"gzip, gzip", ERR_UNSUPPORTED},
		{"deflate", ERR_UNSUPPORTED},
		{"br", ERR_UNSUPPORTED},
	};
	struct buf out = BUF_INIT;

	for (size_t i = 0; i < ARRAY_NR(cases); i++) {
		struct input in = {(const uint8_t *)"abcdef", 6, 0, 2, false};

		assert_int_equal(
			read_all(&out, &in, NULL, cases[i].encoding, 9, NULL),
			cases[i].ret);
	}
	buf_release(&out);
}

/*
 * A gzip stream that is truncated at any byte is an error. Bytes after the end
 * of the stream are ignored.
 */
static void test_truncated(void **state)
{
	struct sample *s = sample_new();
	struct error err = ERROR_INIT;
	struct buf out = BUF_INIT;

	for (size_t len = 0; len < s->packed_len;
	     len += len < 64 || len + 64 > s->packed_len ? 1 : 997) {
		struct input in = {s->packed, len, 0, 4096, false};

		assert_int_equal(read_all(&out, &in, NULL, "gzip", LEN, &err),
				 ERR_PEER);
		assert_string_equal(err.msg, "request ended in the middle of "
					     "the gzip stream");
	}
	memcpy(s->packed + s->packed_len, "tail", 4);
	for (size_t piece = 1; piece <= 4096; piece *= 64) {
		struct input in = {s->packed, s->packed_len + 4, 0, piece,
				   false};

		assert_int_equal(read_all(&out, &in, NULL, "gzip", LEN, &err),
				 0);
		assert_int_equal(out.len, LEN);
	}
	buf_release(&out);
	free(s);
}

static void test_broken_input(void **state)
{
	struct sample *s = sample_new();
	struct buf out = BUF_INIT;
	struct input in = {s->packed, 100, 0, 10, true};

	assert_int_equal(read_all(&out, &in, NULL, "gzip", LEN, NULL), ERR_IO);
	in.at = 0;
	assert_int_equal(read_all(&out, &in, NULL, NULL, LEN, NULL), ERR_IO);
	s->packed[s->packed_len - 6] ^= 1; /* a bit of the checksum */
	in = (struct input){s->packed, s->packed_len, 0, LEN, false};
	assert_int_equal(read_all(&out, &in, NULL, "gzip", LEN, NULL),
			 ERR_PEER);
	buf_release(&out);
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trips),
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_encodings),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_broken_input),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
