/* SPDX-License-Identifier: MIT */
/*
 * Tests of wire/record.c, which reads the log of requests: records are parsed,
 * other events are skipped, and malformed lines are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/error.h"
#include "t/unit/random.h"
#include "wire/record.h"

#define HEAD "{\"event\":\"data_json\",\"sid\":\"x\",\"time\":"
#define TIME "\"2026-11-27T19:00:00.123456Z\""
#define KEYS ",\"category\":\"gitreach\",\"key\":\"request\",\"value\":"

static int parse(struct record *r, const char *line)
{
	return record_parse(r, line, strlen(line));
}

static void test_record(void **state)
{
	struct record r;
	struct json_value value;
	uint64_t n;

	assert_int_equal(parse(&r, HEAD TIME KEYS
			       "{\"service\":\"upload-pack\",\"wants\":7}}\n"),
			 1);
	assert_true(r.end_us == UINT64_C(1795806000123456));
	assert_true(record_find(&value, &r, "wants"));
	assert_true(json_value_u64(&n, &value));
	assert_int_equal(n, 7);
	assert_false(record_find(&value, &r, "want"));
	assert_true(record_find(&value, &r, "service"));
	assert_int_equal(value.kind, JSON_STRING);
}

static void test_others(void **state)
{
	struct record r;

	assert_int_equal(parse(&r, "{\"event\":\"start\",\"time\":\"x\"}"), 0);
	assert_int_equal(parse(&r, "{}"), 0);
	assert_int_equal(parse(&r, HEAD TIME ",\"category\":\"gitreach\","
					     "\"key\":\"other\",\"value\":{}}"),
			 0);
	assert_int_equal(parse(&r, ""), ERR_CORRUPT);
	assert_int_equal(parse(&r, "text"), ERR_CORRUPT);
	assert_int_equal(parse(&r, HEAD TIME KEYS "{}"), ERR_CORRUPT);
	assert_int_equal(parse(&r, HEAD TIME KEYS "1}"), ERR_CORRUPT);
	assert_int_equal(parse(&r, HEAD "\"19:00:00.123456\"" KEYS "{}}"),
			 ERR_CORRUPT);
	assert_int_equal(
		parse(&r, HEAD "\"2026-13-27T19:00:00.123456Z\"" KEYS "{}}"),
		ERR_CORRUPT);
	assert_int_equal(
		parse(&r, HEAD "\"2026-11-27T19:00:0x.123456Z\"" KEYS "{}}"),
		ERR_CORRUPT);
}

/*
 * Dates that strftime() of the C library has printed must be parsed to the same
 * time.
 */
static void test_times(void **state)
{
	uint64_t seed = random_seed();

	for (int round = 0; round < 20000; round++) {
		/* up to the year 2600 */
		time_t t = (time_t)(random_next(&seed) % UINT64_C(20000000000));
		char when[64], line[256];
		struct record r;
		struct tm tm;

		gmtime_r(&t, &tm);
		strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S.000001Z", &tm);
		snprintf(line, sizeof(line), HEAD "\"%s\"" KEYS "{}}", when);
		assert_int_equal(parse(&r, line), 1);
		assert_true(r.end_us == (uint64_t)t * 1000000 + 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_record),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
