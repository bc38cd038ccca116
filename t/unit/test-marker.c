/* SPDX-License-Identifier: MIT */
/*
 * Tests of copies/marker.h, two text files of a cache directory: the marker of
 * a local copy, and the file that names the store. Valid files are written and
 * parsed, and others are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/mem.h"
#include "copies/marker.h"

static int parse_origin(const char *text)
{
	struct stored_origin o;
	int ret = stored_origin_parse(&o, text, strlen(text), NULL);

	if (ret)
		assert_null(o.url);
	stored_origin_release(&o);
	return ret;
}

static void test_origin(void **state)
{
	static const char text[] = "gitreach cache 1\n"
				   "url s3://bucket/a b\n"
				   "endpoint https://store.example.com\n"
				   "region eu-west-1\n"
				   "ca-file /etc/ca.pem\n";
	struct stored_origin o;
	struct buf again = BUF_INIT;

	assert_int_equal(stored_origin_parse(&o, text, strlen(text), NULL), 0);
	assert_string_equal(o.url, "s3://bucket/a b");
	assert_string_equal(o.endpoint, "https://store.example.com");
	assert_string_equal(o.region, "eu-west-1");
	assert_string_equal(o.ca_file, "/etc/ca.pem");
	assert_int_equal(stored_origin_print(&again, &o, NULL), 0);
	assert_string_equal(again.data, text);
	buf_release(&again);
	stored_origin_release(&o);
}

static void test_origin_that_is_wrong(void **state)
{
	static const char *const texts[] = {
		"",
		"gitreach cache 1\n",
		"gitreach cache 2\nurl file:///x\n",
		"gitreach cache 1\nurl \n",
		"gitreach cache 1\nurl file:///x",
		"gitreach cache 1\nurl a\tb\n",
		"gitreach cache 1\nurl file:///x\nother y\n",
		"gitreach cache 1\nurl file:///x\nregion a\nendpoint b\n",
	};
	struct stored_origin o = {.url = (char *)"a\nb"};
	struct buf text = BUF_INIT;

	assert_int_equal(parse_origin("gitreach cache 1\nurl file:///x\n"), 0);
	for (size_t i = 0; i < ARRAY_NR(texts); i++)
		assert_int_equal(parse_origin(texts[i]), ERR_CORRUPT);
	assert_int_equal(stored_origin_print(&text, &o, NULL), ERR_INVALID);
	o.url = (char *)"";
	assert_int_equal(stored_origin_print(&text, &o, NULL), ERR_INVALID);
	assert_int_equal(text.len, 0);
	buf_release(&text);
}

static void test_marker(void **state)
{
	struct stored_marker m = {(char *)"boot",
				  (char *)"a/b c.git",
				  {.number = 1}},
			     again;
	struct buf text = BUF_INIT;
	static const char start[] = "gitreach store-copy 1\nboot boot\n"
				    "name a/b c.git\n\n";

	assert_int_equal(stored_marker_print(&text, &m, NULL), 0);
	assert_memory_equal(text.data, start, sizeof(start) - 1);
	assert_int_equal(stored_marker_parse(&again, text.data, text.len, NULL),
			 0);
	assert_string_equal(again.boot, "boot");
	assert_string_equal(again.name, "a/b c.git");
	assert_int_equal(again.g.number, 1);
	stored_marker_release(&again);
	/* A marker file that is truncated at any byte is refused. */
	for (size_t len = 0; len < text.len; len++) {
		assert_true(stored_marker_parse(&again, text.data, len, NULL) <
			    0);
		assert_null(again.boot);
	}
	buf_reset(&text);
	m.g.is_retired = true;
	assert_int_equal(stored_marker_print(&text, &m, NULL), 0);
	assert_int_equal(stored_marker_parse(&again, text.data, text.len, NULL),
			 ERR_CORRUPT);
	m.name = (char *)"a\nb";
	assert_int_equal(stored_marker_print(&text, &m, NULL), ERR_INVALID);
	buf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_origin),
		cmocka_unit_test(test_origin_that_is_wrong),
		cmocka_unit_test(test_marker),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
