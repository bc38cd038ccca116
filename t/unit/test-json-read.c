/* SPDX-License-Identifier: MIT */
/*
 * Tests of base/json-read.c, a parser of JSON objects: valid objects are read
 * member by member, and invalid or truncated texts are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/error.h"
#include "base/json-read.h"
#include "base/json.h"
#include "t/unit/random.h"

/*
 * Parses a JSON object. Returns the number of its members, or a negative error
 * code.
 */
static int count_in(const char *text, size_t len)
{
	char *exact = malloc(len + !len);
	struct json_members m;
	struct json_member member;
	int nr = 0, ret;

	memcpy(exact, text, len);
	json_members_init(&m, exact, len);
	while ((ret = json_members_next(&m, &member)) > 0)
		nr++;
	free(exact);
	return ret < 0 ? ret : nr;
}

static int count(const char *text)
{
	return count_in(text, strlen(text));
}

static void test_valid(void **state)
{
	static const struct {
		const char *text;
		int nr;
	} samples[] = {
		{"{}", 0},
		{" {\t} \r\n", 0},
		{"{\"\":\"\"}", 1},
		{"{\"a\":1,\"b\" : -0.5e+10 , \"c\":[1,[],{}, \"x\"]}", 3},
		{"{\"a\":0,\"b\":-1,\"c\":1E5,\"d\":0.0,\"e\":10}", 5},
		{"{\"a\":true,\"b\":false,\"c\":null}", 3},
		{"{\"a\":{\"b\":{\"c\":[{\"d\":null}]}}}", 1},
		{"{\"\\u00e9\\ud834\\udd1e\\/"
		 "\\b\":\"\xc3\xa9\xf0\x9d\x84\x9e\"}",
		 1},
		{"{\"a\":1,\"a\":2}", 2},
	};

	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
		assert_int_equal(count(samples[i].text), samples[i].nr);
}

static void test_invalid(void **state)
{
	static const char *const texts[] = {
		"",
		" ",
		"[]",
		"1",
		"{",
		"}",
		"{}{}",
		"{},",
		"{,}",
		"{\"a\"}",
		"{\"a\":}",
		"{\"a\":1,}",
		"{\"a\":1 \"b\":2}",
		"{\"a\":1;\"b\":2}",
		"{a:1}",
		"{'a':1}",
		"{\"a\":01}",
		"{\"a\":+1}",
		"{\"a\":-}",
		"{\"a\":.5}",
		"{\"a\":1.}",
		"{\"a\":1e}",
		"{\"a\":1e+}",
		"{\"a\":NaN}",
		"{\"a\":tru}",
		"{\"a\":nulll}",
		"{\"a\":\"x}",
		"{\"a\":\"\\x\"}",
		"{\"a\":\"\\u12g4\"}",
		"{\"a\":\"\\u123\"}",
		"{\"a\":\"\\ud834\"}",
		"{\"a\":\"\\ud834\\u0041\"}",
		"{\"a\":\"\\udd1e\"}",
		"{\"a\":\"\x01\"}",
		"{\"a\":\"\n\"}",
		"{\"a\":\"\x80\"}",
		"{\"a\":\"\xc0\x80\"}",
		"{\"a\":\"\xed\xa0\x80\"}",
		"{\"a\":[1,]}",
		"{\"a\":[1}",
		"{\"a\":[}",
		"{\"a\":{\"b\"}}",
		"{\"a\":1}/",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (count(texts[i]) != ERR_CORRUPT)
			fail_msg("accepted: %s", texts[i]);
	assert_int_equal(count_in("{\"a\":\"\0\"}", 9), ERR_CORRUPT);
}

/* A JSON text without its last bytes is invalid. */
static void test_cut(void **state)
{
	static const char text[] =
		"{\"a\":[1.5e2,true,false,null,\"\\u00e9\\n\xc3\xa9\"],"
		"\"b\":{\"c\":\"\\ud834\\udd1e\"}}";

	assert_int_equal(count(text), 2);
	for (size_t len = 0; len < sizeof(text) - 1; len++)
		assert_int_equal(count_in(text, len), ERR_CORRUPT);
}

static void test_depth(void **state)
{
	char text[2 * JSON_DEPTH_MAX + 16];

	for (int depth = JSON_DEPTH_MAX - 1; depth <= JSON_DEPTH_MAX; depth++) {
		char *p = text + sprintf(text, "{\"a\":");

		memset(p, '[', (size_t)depth);
		memset(p + depth, ']', (size_t)depth);
		strcpy(p + 2 * depth, "}");
		assert_int_equal(count(text),
				 depth < JSON_DEPTH_MAX ? 1 : ERR_CORRUPT);
	}
}

static void test_values(void **state)
{
	static const char text[] =
		"{\"n\":18446744073709551615,\"big\":18446744073709551616,"
		"\"minus\":-1,\"part\":1.0,\"s\":\"a\\u0000\\u00e9\\ud834"
		"\\udd1e\\n\\\"\\\\\\/\\u20ac\"}";
	static const char expected[] = "a\0\xc3\xa9\xf0\x9d\x84\x9e\n\"\\/"
				       "\xe2\x82\xac";
	struct json_members m;
	struct json_member member;
	struct buf out = BUF_INIT;
	uint64_t n = 7;

	json_members_init(&m, text, strlen(text));
	assert_int_equal(json_members_next(&m, &member), 1);
	assert_true(json_member_is(&member, "n"));
	assert_false(json_member_is(&member, "nn"));
	assert_false(json_member_is(&member, ""));
	assert_true(json_value_u64(&n, &member.value));
	assert_true(n == UINT64_MAX);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(json_members_next(&m, &member), 1);
		assert_int_equal(member.value.kind, JSON_NUMBER);
		assert_false(json_value_u64(&n, &member.value));
	}
	assert_int_equal(json_members_next(&m, &member), 1);
	assert_false(json_value_u64(&n, &member.value));
	assert_int_equal(json_value_string(&out, &member.value), 0);
	assert_int_equal(out.len, sizeof(expected) - 1);
	assert_memory_equal(out.data, expected, sizeof(expected) - 1);
	assert_int_equal(json_members_next(&m, &member), 0);
	buf_release(&out);
}

/* The parser reads each string that base/json.c writes. */
static void test_round_trip(void **state)
{
	uint64_t seed = random_seed();

	for (int round = 0; round < 500; round++) {
		struct buf text = BUF_INIT, out = BUF_INIT;
		struct json_members m;
		struct json_member member;
		char bytes[64];
		size_t len = random_next(&seed) % sizeof(bytes);

		/*
		 * Use only valid UTF-8, because the writer changes other bytes.
		 */
		for (size_t i = 0; i < len; i++)
			bytes[i] = (char)(random_next(&seed) % 0x80);
		assert_int_equal(buf_append_str(&text, "{\"k\":"), 0);
		assert_int_equal(json_string(&text, bytes, len), 0);
		assert_int_equal(buf_append_char(&text, '}'), 0);
		json_members_init(&m, text.data, text.len);
		assert_int_equal(json_members_next(&m, &member), 1);
		assert_int_equal(json_value_string(&out, &member.value), 0);
		assert_int_equal(out.len, len);
		if (len)
			assert_memory_equal(out.data, bytes, len);
		assert_int_equal(json_members_next(&m, &member), 0);
		buf_release(&text);
		buf_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_valid),
		cmocka_unit_test(test_invalid),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
