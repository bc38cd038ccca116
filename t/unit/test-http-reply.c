/* SPDX-License-Identifier: MIT */
/* Tests of http/http-reply.c: headers and bodies of answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "http/http-exchange.h"

#define NEVER                                                                  \
	"Expires: Fri, 01 Jan 1980 00:00:00 GMT\r\n"                           \
	"Pragma: no-cache\r\n"                                                 \
	"Cache-Control: no-cache, max-age=0, must-revalidate\r\n"

struct output {
	struct buf bytes;
	bool fail;
};

static int take(void *ctx, struct iovec *iov, size_t nr, struct error *err)
{
	struct output *out = ctx;

	if (out->fail)
		return error_set(err, ERR_PEER, "gone");
	for (size_t i = 0; i < nr; i++)
		buf_append(&out->bytes, iov[i].iov_base, iov[i].iov_len);
	return 0;
}

static void test_headers_wait(void **state)
{
	struct output out = {BUF_INIT, false};
	struct serve_io io = {.writev = take, .ctx = &out};
	struct http_reply r;

	http_reply_init(&r, &io, false);
	assert_int_equal(http_reply_header(&r, "A", "b", NULL), 0);
	assert_int_equal(http_reply_number(&r, "N", UINT64_MAX, NULL), 0);
	assert_string_equal(out.bytes.data, "");
	assert_false(r.has_begun);
	assert_int_equal(http_reply_put(&r, "xy", 2, NULL), 0);
	assert_true(r.has_begun);
	assert_int_equal(http_reply_begin(&r, NULL), 0);
	assert_int_equal(http_reply_put(&r, "z", 1, NULL), 0);
	assert_string_equal(out.bytes.data,
			    "A: b\r\nN: 18446744073709551615\r\n\r\nxyz");
	http_reply_release(&r);
	buf_release(&out.bytes);
}

static void test_no_body(void **state)
{
	struct output out = {BUF_INIT, false};
	struct serve_io io = {.writev = take, .ctx = &out};
	struct http_reply r;

	http_reply_init(&r, &io, true);
	assert_int_equal(http_reply_header(&r, "A", "b", NULL), 0);
	assert_int_equal(http_reply_put(&r, "xy", 2, NULL), 0);
	assert_string_equal(out.bytes.data, "A: b\r\n\r\n");
	http_reply_release(&r);
	buf_release(&out.bytes);
}

static void test_dates(void **state)
{
	struct output out = {BUF_INIT, false};
	struct serve_io io = {.writev = take, .ctx = &out};
	struct http_reply r;

	http_reply_init(&r, &io, false);
	assert_int_equal(http_reply_date(&r, "D", 0, NULL), 0);
	assert_int_equal(http_reply_date(&r, "D", 784111777, NULL), 0);
	assert_int_equal(http_reply_date(&r, "D", INT64_MAX, NULL), 0);
	assert_int_equal(http_reply_cache_for_ever(&r, 1709164800, NULL), 0);
	assert_string_equal(r.head.data,
			    "D: Thu, 01 Jan 1970 00:00:00 GMT\r\n"
			    /* The example of RFC 9110. */
			    "D: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
			    "Date: Thu, 29 Feb 2024 00:00:00 GMT\r\n"
			    "Expires: Fri, 28 Feb 2025 00:00:00 GMT\r\n"
			    "Cache-Control: public, max-age=31536000\r\n");
	http_reply_release(&r);
}

static void test_refuse(void **state)
{
	struct output out = {BUF_INIT, false};
	struct serve_io io = {.writev = take, .ctx = &out};
	struct http_reply r;

	http_reply_init(&r, &io, false);
	assert_int_equal(http_reply_header(&r, "A", "b", NULL), 0);
	assert_int_equal(http_reply_refuse(&r, "405 No", "GET", "text", NULL),
			 0);
	assert_string_equal(out.bytes.data,
			    "Status: 405 No\r\nAllow: GET\r\n" NEVER
			    "Content-Type: text/plain\r\n\r\ntext");
	http_reply_release(&r);
	buf_reset(&out.bytes);
	http_reply_init(&r, &io, false);
	assert_int_equal(http_reply_refuse(&r, "404 No", NULL, NULL, NULL), 0);
	assert_string_equal(out.bytes.data, "Status: 404 No\r\n" NEVER "\r\n");
	http_reply_release(&r);
	buf_release(&out.bytes);
}

static void test_gone(void **state)
{
	struct output out = {BUF_INIT, true};
	struct serve_io io = {.writev = take, .ctx = &out};
	struct error err = ERROR_INIT;
	struct http_reply r;

	http_reply_init(&r, &io, false);
	assert_int_equal(http_reply_put(&r, "x", 1, &err), ERR_PEER);
	assert_string_equal(err.msg, "gone");
	assert_true(r.has_begun);
	http_reply_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_headers_wait),
		cmocka_unit_test(test_no_body),
		cmocka_unit_test(test_dates),
		cmocka_unit_test(test_refuse),
		cmocka_unit_test(test_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
