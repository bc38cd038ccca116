/* SPDX-License-Identifier: MIT */
/*
 * Tests of http/http-reply.c, which writes HTTP responses. They prove that
 * headers and bodies are right in each form of a response.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "http/http-exchange.h"

#define NEVER                                                                  \
	"Expires: Fri, 01 Jan 1980 00:00:00 GMT\r\n"                           \
	"Pragma: no-cache\r\n"                                                 \
	"Cache-Control: no-cache, max-age=0, must-revalidate\r\n"

struct output {
	struct buf bytes;
	bool fail;
	unsigned writes;
};

static int take(void *ctx, struct iovec *iov, size_t nr, struct error *err)
{
	struct output *out = ctx;

	if (out->fail)
		return error_set(err, ERR_PEER, "gone");
	out->writes++;
	for (size_t i = 0; i < nr; i++)
		buf_append(&out->bytes, iov[i].iov_base, iov[i].iov_len);
	return 0;
}

static void test_headers_wait(void **state)
{
	struct output out = {.bytes = BUF_INIT};
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

static int take_span(void *ctx, const struct serve_span *span,
		     struct error *err)
{
	struct output *out = ctx;

	buf_printf(&out->bytes, "<%.*s%s>", (int)span->len,
		   (const char *)span->bytes,
		   span->is_chunked ? " chunked" : "");
	return 0;
}

/*
 * A span (a range of a file) is sent in chunks of its own. So the open chunk
 * must end before the span, and a new chunk begins after the span.
 */
static void test_emit(void **state)
{
	struct output out = {.bytes = BUF_INIT};
	struct serve_io io = {.writev = take, .ctx = &out, .emit = take_span};
	const struct serve_span span = {(const uint8_t *)"span", 4, 0, 0,
					false};
	struct http_reply r;

	http_reply_init(&r, &io, false);
	r.form = HTTP_1_1;
	r.has_date = true;
	assert_int_equal(http_reply_emit(&r, &span, NULL), 0);
	assert_non_null(strstr(out.bytes.data, "\r\n\r\n<span chunked>"));
	buf_reset(&out.bytes);
	assert_int_equal(http_reply_put(&r, "x", 1, NULL), 0);
	assert_int_equal(http_reply_emit(&r, &span, NULL), 0);
	assert_int_equal(http_reply_end(&r, NULL), 0);
	assert_string_equal(out.bytes.data,
			    "1\r\nx\r\n<span chunked>0\r\n\r\n");
	http_reply_release(&r);
	buf_reset(&out.bytes);
	http_reply_init(&r, &io, false);
	assert_int_equal(http_reply_emit(&r, &span, NULL), 0);
	assert_string_equal(out.bytes.data, "\r\n<span>");
	http_reply_release(&r);
	buf_release(&out.bytes);
}

/*
 * The last chunk with data and the chunk of length 0, which ends the body, are
 * sent in one write.
 */
static void test_last(void **state)
{
	struct output out = {.bytes = BUF_INIT};
	struct serve_io io = {.writev = take, .ctx = &out};
	struct iovec iov = {(char *)"last", 4};
	struct http_reply r;

	http_reply_init(&r, &io, false);
	r.form = HTTP_1_1;
	r.has_date = true;
	assert_int_equal(http_reply_put(&r, "x", 1, NULL), 0);
	buf_reset(&out.bytes);
	out.writes = 0;
	assert_int_equal(http_reply_writev_last(&r, &iov, 1, NULL), 0);
	assert_int_equal(http_reply_end(&r, NULL), 0);
	assert_string_equal(out.bytes.data, "\r\n4\r\nlast\r\n0\r\n\r\n");
	assert_int_equal(out.writes, 1);
	http_reply_release(&r);
	buf_reset(&out.bytes);
	http_reply_init(&r, &io, false);
	assert_int_equal(http_reply_writev_last(&r, &iov, 1, NULL), 0);
	assert_int_equal(http_reply_end(&r, NULL), 0);
	assert_string_equal(out.bytes.data, "\r\nlast");
	http_reply_release(&r);
	buf_release(&out.bytes);
}

static void test_no_body(void **state)
{
	struct output out = {.bytes = BUF_INIT};
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
	struct output out = {.bytes = BUF_INIT};
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
	struct output out = {.bytes = BUF_INIT};
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
	struct output out = {.bytes = BUF_INIT, .fail = true};
	struct serve_io io = {.writev = take, .ctx = &out};
	struct error err = ERROR_INIT;
	struct http_reply r;

	http_reply_init(&r, &io, false);
	assert_int_equal(http_reply_put(&r, "x", 1, &err), ERR_PEER);
	assert_string_equal(err.msg, "gone");
	assert_true(r.has_begun);
	http_reply_release(&r);
}

/* Remove the header Date, whose value depends on the time. */
static void drop_date(struct buf *b)
{
	char *date = strstr(b->data, "Date: "), *next;

	assert_non_null(date);
	next = strchr(date, '\n') + 1;
	assert_int_equal(next - date, strlen("Date: Sun, 06 Nov 1994 "
					     "08:49:37 GMT\r\n"));
	memmove(date, next, strlen(next) + 1);
	b->len = strlen(b->data);
}

static int send_span(void *ctx, const void *head, size_t len,
		     const struct sys_file_span *span, struct error *err)
{
	struct output *out = ctx;

	buf_append(&out->bytes, head, len);
	buf_append(&out->bytes, span->bytes, span->len);
	return 0;
}

/*
 * Checks a response of HTTP/1.x: 130 pieces of memory, and a range of a file.
 * `has_length`: the response has a Content-Length. `keep`: the client wants to
 * keep the connection. `no_body`: the response to a HEAD request. `expected`:
 * the expected headers.
 */
static void check_form(enum http_form form, bool has_length, bool keep,
		       bool no_body, const char *expected, const char *body)
{
	struct output out = {.bytes = BUF_INIT};
	struct serve_io io = {
		.writev = take, .ctx = &out, .send_file = send_span};
	struct sys_file_span span = {(const uint8_t *)"file", 4, -1, 0};
	struct buf text = BUF_INIT;
	struct iovec iov[130];
	struct http_reply r;

	for (size_t i = 0; i < 130; i++)
		iov[i] = (struct iovec){(char *)"x", i % 2};
	http_reply_init(&r, &io, no_body);
	r.form = form;
	r.keep_alive = keep;
	if (has_length)
		assert_int_equal(http_reply_length(&r, 71, NULL), 0);
	assert_int_equal(http_reply_writev(&r, iov, 130, NULL), 0);
	assert_int_equal(http_reply_put(&r, "", 0, NULL), 0);
	assert_int_equal(http_reply_send_file(&r, "<>", 2, &span, NULL), 0);
	assert_int_equal(http_reply_end(&r, NULL), 0);
	drop_date(&out.bytes);
	buf_printf(&text, "HTTP/1.1 200 OK\r\n%s\r\n%s", expected, body);
	assert_string_equal(out.bytes.data, text.data);
	assert_int_equal(r.keep_alive,
			 keep && (has_length || form == HTTP_1_1));
	http_reply_release(&r);
	buf_release(&out.bytes);
	buf_release(&text);
}

#define X32 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

static void test_forms(void **state)
{
	static const char plain[] = X32 X32 "x<>file";
	static const char chunks[] = "20\r\n" X32 "\r\n20\r\n" X32
				     "\r\n1\r\nx\r\n6\r\n<>file\r\n0\r\n\r\n";

	check_form(HTTP_1_1, false, true, false,
		   "Transfer-Encoding: chunked\r\n", chunks);
	check_form(HTTP_1_1, false, false, false,
		   "Transfer-Encoding: chunked\r\nConnection: close\r\n",
		   chunks);
	check_form(HTTP_1_1, false, true, true,
		   "Transfer-Encoding: chunked\r\n", "");
	check_form(HTTP_1_1, true, true, false, "Content-Length: 71\r\n",
		   plain);
	check_form(HTTP_1_0, true, true, false,
		   "Content-Length: 71\r\nConnection: keep-alive\r\n", plain);
	check_form(HTTP_1_0, false, true, false, "Connection: close\r\n",
		   plain);
}

static void test_refuse_form(void **state)
{
	struct output out = {.bytes = BUF_INIT};
	struct serve_io io = {.writev = take, .ctx = &out};
	struct http_reply r;

	http_reply_init(&r, &io, false);
	r.form = HTTP_1_1;
	r.keep_alive = true;
	http_reply_length(&r, 7, NULL);
	assert_int_equal(
		http_reply_refuse(&r, "403 Forbidden", NULL, NULL, NULL), 0);
	assert_int_equal(http_reply_end(&r, NULL), 0);
	drop_date(&out.bytes);
	assert_string_equal(out.bytes.data,
			    "HTTP/1.1 403 Forbidden\r\n"
			    "Content-Length: 0\r\n" NEVER "\r\n");
	assert_true(r.keep_alive);
	http_reply_release(&r);
	buf_release(&out.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_refuse_form),
		cmocka_unit_test(test_headers_wait),
		cmocka_unit_test(test_emit),
		cmocka_unit_test(test_last),
		cmocka_unit_test(test_no_body),
		cmocka_unit_test(test_dates),
		cmocka_unit_test(test_refuse),
		cmocka_unit_test(test_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
