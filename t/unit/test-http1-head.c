/* SPDX-License-Identifier: MIT */
/*
 * Tests of http1/head.c, which parses heads of HTTP/1.x requests. They prove
 * that a head gives the same result at once and in pieces, and that wrong heads
 * get the right status.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/mem.h"
#include "http1/head.h"

static const struct http1_limits limits = {200, 40, 4};

#define HOST "Host: h\r\n"

/*
 * Parses a head. Returns 200 if it is valid, 0 if more bytes are needed, or the
 * status of the error.
 */
static unsigned status_of(struct http1_head *head, const char *text)
{
	int ret;

	http1_head_init(head);
	ret = http1_head_parse(head, &limits, text, strlen(text));
	assert_int_equal(ret < 0, head->status != 0);
	if (ret <= 0)
		return head->status;
	assert_true(http1_head_verify(head, text));
	return 200;
}

static void test_parts(void **state)
{
	static const char text[] = "POST /a%20b/x?q=%2f&r HTTP/1.1\r\n" HOST
				   "Content-Length:\t 42 \t\r\nA:\r\n\r\nbody";
	struct buf path = BUF_INIT;
	struct http1_head head;
	const struct http1_field *f;

	assert_int_equal(status_of(&head, text), 200);
	assert_int_equal(head.len, strlen(text) - 4);
	assert_memory_equal(text + head.method.off, "POST", head.method.len);
	assert_int_equal(head.method.len, 4);
	assert_int_equal(head.query.len, 7);
	assert_memory_equal(text + head.query.off, "q=%2f&r", 7);
	assert_int_equal(http1_head_path(&path, &head, text), 0);
	assert_string_equal(path.data, "/a b/x");
	assert_int_equal(head.framing, HTTP1_LENGTH);
	assert_int_equal(head.body_len, 42);
	assert_int_equal(head.field_nr, 3);
	f = http1_head_field(&head, text, "content-LENGTH");
	assert_non_null(f);
	assert_int_equal(f->value.len, 2);
	f = http1_head_field(&head, text, "a");
	assert_non_null(f);
	assert_int_equal(f->value.len, 0);
	assert_null(http1_head_field(&head, text, "B"));
	buf_release(&path);
}

static void test_targets(void **state)
{
	static const struct {
		const char *target;
		const char *path; /* NULL: status 400 */
		const char *query;
	} cases[] = {
		{"/", "/", ""},
		{"/?", "/", ""},
		{"/a?b?c", "/a", "b?c"},
		{"/../a", "/../a", ""},
		{"/%41%7e", "/A~", ""},
		{"/\xc3\xa4", "/\xc3\xa4", ""},
		{"http://h/x", "/x", ""},
		{"HTTPS://[::1]:8/x?y", "/x", "y"},
		{"http://h", NULL, NULL},
		{"http:///x", NULL, NULL},
		{"http://u@h/x", NULL, NULL},
		{"http://h?/x", NULL, NULL},
		{"h:80", NULL, NULL},
		{"*", NULL, NULL},
		{"a/b", NULL, NULL},
		{"/a#b", NULL, NULL},
		{"/a?b#c", NULL, NULL},
		{"/%", NULL, NULL},
		{"/%4", NULL, NULL},
		{"/%4?1", NULL, NULL},
		{"/%2f", NULL, NULL},
		{"/%2F", NULL, NULL},
		{"/%00", NULL, NULL},
		{"/%1f", NULL, NULL},
		{"/%7F", NULL, NULL},
		{"/a\x7f", NULL, NULL},
	};

	for (size_t i = 0; i < ARRAY_NR(cases); i++) {
		struct buf text = BUF_INIT, path = BUF_INIT;
		struct http1_head head;

		buf_printf(&text, "GET %s HTTP/1.1\r\n" HOST "\r\n",
			   cases[i].target);
		assert_int_equal(status_of(&head, text.data),
				 cases[i].path ? 200 : 400);
		if (cases[i].path) {
			http1_head_path(&path, &head, text.data);
			assert_string_equal(path.data, cases[i].path);
			assert_int_equal(head.query.len,
					 strlen(cases[i].query));
			assert_memory_equal(text.data + head.query.off,
					    cases[i].query, head.query.len);
		}
		buf_release(&text);
		buf_release(&path);
	}
}

static void test_connection(void **state)
{
	static const struct {
		const char *fields;
		unsigned minor;
		bool keep;
	} cases[] = {
		{HOST, 1, true},
		{"", 0, false},
		{HOST "Connection: close\r\n", 1, false},
		{HOST "Connection: CLOSE\r\n", 1, false},
		{HOST "Connection: a, close ,b\r\n", 1, false},
		{HOST "Connection: a,\t close\r\n", 1, false},
		{HOST "Connection: closed, xclose\r\n", 1, true},
		{HOST "Connection: a\r\nconnection: close\r\n", 1, false},
		{HOST "Connection: ,, ,\r\n", 1, true},
		{"Connection: keep-alive\r\n", 0, true},
		{"Connection: keep-alive, close\r\n", 0, false},
	};

	for (size_t i = 0; i < ARRAY_NR(cases); i++) {
		struct buf text = BUF_INIT;
		struct http1_head head;

		buf_printf(&text, "GET / HTTP/1.%u\r\n%s\r\n", cases[i].minor,
			   cases[i].fields);
		assert_int_equal(status_of(&head, text.data), 200);
		assert_int_equal(head.minor, cases[i].minor);
		assert_int_equal(head.keep_alive, cases[i].keep);
		assert_int_equal(head.framing, HTTP1_NO_BODY);
		buf_release(&text);
	}
}

static void test_expect(void **state)
{
	struct http1_head head;

	assert_int_equal(status_of(&head, "POST / HTTP/1.1\r\n" HOST
					  "Expect: 100-Continue\r\n"
					  "Content-Length: 1\r\n\r\n"),
			 200);
	assert_true(head.expects_continue);
	assert_int_equal(status_of(&head, "POST / HTTP/1.1\r\n" HOST
					  "Expect: 100-continue\r\n\r\n"),
			 200);
	assert_false(head.expects_continue);
	assert_int_equal(status_of(&head, "POST / HTTP/1.0\r\n"
					  "Expect: 100-continue\r\n"
					  "Content-Length: 1\r\n\r\n"),
			 200);
	assert_false(head.expects_continue);
	assert_int_equal(status_of(&head, "POST / HTTP/1.1\r\n" HOST
					  "Expect: 100-continue, x\r\n\r\n"),
			 417);
}

/*
 * Request lines and fields that are as long as the limits allow are accepted.
 * If they are one byte longer, they get an error status.
 */
static void test_limits(void **state)
{
	char target[64], value[256];
	struct buf text = BUF_INIT;
	struct http1_head head;

	for (size_t len = 39; len <= 42; len++) {
		memset(target, 'a', sizeof(target));
		target[0] = '/';
		buf_reset(&text);
		buf_printf(&text, "GET %.*s HTTP/1.1\r\n" HOST "\r\n", (int)len,
			   target);
		assert_int_equal(status_of(&head, text.data),
				 len <= 40 ? 200 : 414);
	}
	memset(value, 'v', sizeof(value));
	for (size_t total = 198; total <= 202; total++) {
		buf_reset(&text);
		buf_printf(&text, "GET / HTTP/1.1\r\n" HOST "A: %.*s\r\n\r\n",
			   (int)(total - 32), value);
		assert_int_equal(text.len, total);
		assert_int_equal(status_of(&head, text.data),
				 total <= 200 ? 200 : 431);
	}
	for (int nr = 3; nr <= 5; nr++) {
		buf_reset(&text);
		buf_printf(&text, "GET / HTTP/1.1\r\n" HOST);
		for (int i = 1; i < nr; i++)
			buf_append_str(&text, "A: b\r\n");
		buf_append_str(&text, "\r\n");
		assert_int_equal(status_of(&head, text.data),
				 nr <= 4 ? 200 : 431);
	}
	buf_reset(&text);
	buf_printf(&text, "%.*s", 200, value);
	assert_int_equal(status_of(&head, text.data), 0);
	buf_append_str(&text, "v");
	assert_int_equal(status_of(&head, text.data), 414);
	/*
	 * A line that begins with a slash has no valid method. So the status is
	 * 400 even though the line is too long.
	 */
	memset(value, '/', sizeof(value));
	buf_reset(&text);
	buf_printf(&text, "%.*s\r\n", 199, value);
	assert_int_equal(status_of(&head, text.data), 400);
	buf_release(&text);
}

/* A head that arrives in two pieces gives the same result as a whole head. */
static void test_pieces(void **state)
{
	static const char text[] = "\r\nGET /x HTTP/1.1\r\n" HOST
				   "Transfer-Encoding: chunked\r\n\r\n";
	size_t len = strlen(text);

	for (size_t cut = 0; cut < len; cut++) {
		struct http1_head head;

		http1_head_init(&head);
		assert_int_equal(http1_head_parse(&head, &limits, text, cut),
				 0);
		assert_int_equal(http1_head_parse(&head, &limits, text, len),
				 1);
		assert_int_equal(head.len, len);
		assert_int_equal(head.framing, HTTP1_CHUNKED);
		assert_true(http1_head_verify(&head, text));
	}
}

/*
 * An invalid line is refused as soon as the line is complete. The bytes after
 * it do not change the result.
 */
static void test_early_errors(void **state)
{
	static const char *const texts[] = {"\x16\x03", "GET\r\n", "GET / \n",
					    "GET / HTTP/1.1\r\nA : b\r\n"};

	for (size_t i = 0; i < ARRAY_NR(texts); i++) {
		struct http1_head head;

		assert_int_equal(status_of(&head, texts[i]), 400);
		assert_int_equal(http1_head_parse(&head, &limits, texts[i],
						  strlen(texts[i])),
				 ERR_PEER);
		assert_int_equal(head.status, 400);
	}
}

static void test_verify_finds(void **state)
{
	static const char text[] = "GET /x?y HTTP/1.1\r\n" HOST
				   "Content-Length: 3\r\n\r\n";
	struct http1_head good, bad;

	assert_int_equal(status_of(&good, text), 200);
	bad = good;
	bad.body_len = 4;
	assert_false(http1_head_verify(&bad, text));
	bad = good;
	bad.framing = HTTP1_NO_BODY;
	assert_false(http1_head_verify(&bad, text));
	bad = good;
	bad.minor = 0;
	assert_false(http1_head_verify(&bad, text));
	bad = good;
	bad.field_nr = 1;
	assert_false(http1_head_verify(&bad, text));
	bad = good;
	bad.query.len--;
	assert_false(http1_head_verify(&bad, text));
	bad = good;
	bad.fields[0].value.len--;
	assert_false(http1_head_verify(&bad, text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_targets),
		cmocka_unit_test(test_connection),
		cmocka_unit_test(test_expect),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_early_errors),
		cmocka_unit_test(test_verify_finds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
