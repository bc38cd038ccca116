/* SPDX-License-Identifier: MIT */
/*
 * Tests of sys/trace-line.c, which makes lines of the trace: words are quoted
 * and passwords are hidden as in stock Git, and numbers and columns have the
 * right form.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "sys/trace-line.h"

/*
 * The expected text was printed by `GIT_TRACE=1 git rev-parse <words>` of Git
 * 2.39.5.
 */
static void test_words(void **state)
{
	static const char *const words[] = {"-c",  "a.b=1", "a@{1}", "~x",
					    "a%b", "a#b",   "*",     "\303\251",
					    "!",   NULL};
	struct buf out = BUF_INIT;

	assert_int_equal(trace_line_words(&out, words, false), 0);
	assert_string_equal(out.data, "-c a.b=1 'a@{1}' '~x' 'a%b' 'a#b' '*' "
				      "'\303\251' ''\\!''");
	buf_release(&out);
}

static void test_array(void **state)
{
	static const char *const none[] = {NULL};
	static const char *const words[] = {"a", "\"", NULL};
	struct buf out = BUF_INIT;

	assert_int_equal(buf_append_char(&out, '{'), 0);
	assert_int_equal(trace_line_array(&out, "x", none, false), 0);
	assert_int_equal(trace_line_array(&out, "y", words, false), 0);
	assert_string_equal(out.data, "{\"x\":[],\"y\":[\"a\",\"\\\"\"]");
	buf_release(&out);
}

/* The expected words were printed by `GIT_TRACE2=1 git <words>` of Git 2.55. */
static void test_passwords(void **state)
{
	static const struct {
		const char *word, *shown;
	} cases[] = {
		{"http://u:p@h/x", "http://u:<REDACTED>@h/x"},
		{"https://u:p@h/x", "https://u:<REDACTED>@h/x"},
		{"http://:p@h/", "http://:<REDACTED>@h/"},
		{"http://u:@h", "http://u:<REDACTED>@h"},
		{"http://u:p@h@g/", "http://u:<REDACTED>@h@g/"},
		{"http://u:p:q@h/", "http://u:<REDACTED>@h/"},
		{"http://u:p?q@h", "http://u:<REDACTED>@h"},
		{"HTTP://u:p@h/", NULL},
		{"ftp://u:p@h/", NULL},
		{"http://u@h/", NULL},
		{"http://a@b:c@d/", NULL},
		{"http://u:p/q@h/", NULL},
		{"http://u/q:p@h", NULL},
		{"http://u:p", NULL},
		{"--x=http://u:p@h/", NULL},
		{"", NULL},
	};
	static const char *const words[] = {"a", "http://u:p@h/", NULL};
	struct buf out = BUF_INIT;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *word = cases[i].word, *shown = cases[i].shown;

		buf_reset(&out);
		assert_int_equal(trace_line_word(&out, word, true), 0);
		assert_string_equal(out.data, shown ? shown : word);
		buf_reset(&out);
		assert_int_equal(trace_line_word(&out, word, false), 0);
		assert_string_equal(out.data, word);
	}
	buf_reset(&out);
	assert_int_equal(trace_line_words(&out, words, true), 0);
	assert_string_equal(out.data, "a 'http://u:<REDACTED>@h/'");
	buf_reset(&out);
	assert_int_equal(buf_append_char(&out, '{'), 0);
	assert_int_equal(trace_line_array(&out, "x", words, true), 0);
	assert_string_equal(out.data,
			    "{\"x\":[\"a\",\"http://u:<REDACTED>@h/\"]");
	buf_release(&out);
}

static void test_seconds(void **state)
{
	struct buf out = BUF_INIT;

	assert_int_equal(trace_line_seconds(&out, "t", 1999), 0);
	assert_int_equal(trace_line_seconds(&out, "u", 12000345678), 0);
	assert_string_equal(out.data, ",\"t\":0.000001,\"u\":12.000345");
	buf_release(&out);
}

static void test_escaped(void **state)
{
	struct buf out = BUF_INIT;

	assert_int_equal(trace_line_escaped(&out, "a\0b\\\t\177\377 ~", 9), 0);
	assert_string_equal(out.data, "a\\0b\\\\11\\177\\377 ~");
	buf_release(&out);
}

/*
 * If a file name is wider than its column, the next columns move to the right.
 */
static void test_begin(void **state)
{
	static const struct trace_at near = {"a.c", 1}, far = {"abcdefgh.c", 2};
	struct buf out = BUF_INIT;

	assert_int_equal(trace_line_begin(&out, near, 8), 0);
	assert_string_equal(out.data + 15, " a.c:1   ");
	buf_reset(&out);
	assert_int_equal(trace_line_begin(&out, far, 8), 0);
	assert_string_equal(out.data + 15, " abcdefgh.c:2 ");
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_array),
		cmocka_unit_test(test_passwords),
		cmocka_unit_test(test_seconds),
		cmocka_unit_test(test_escaped),
		cmocka_unit_test(test_begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
