/* SPDX-License-Identifier: MIT */
/*
 * Tests of graph/bloom.c, the changed-path filters of a commit-graph. They
 * prove that hashes equal known values, and that a filter has each path that
 * was added.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "graph/bloom.h"
#include "t/unit/random.h"

/* Compares hashes with published values of standard murmur3. */
static void test_murmur3(void **state)
{
	static const char fox[] = "The quick brown fox jumps over the lazy dog";

	assert_int_equal(bloom_murmur3(0, "", 0, 2), 0);
	assert_int_equal(bloom_murmur3(1, "", 0, 2), 0x514e28b7);
	assert_int_equal(bloom_murmur3(0, "\xff\xff\xff\xff", 4, 2),
			 0x76293b50);
	assert_int_equal(bloom_murmur3(0, "!Ce\x87", 4, 2), 0xf55b516b);
	assert_int_equal(bloom_murmur3(0, "!Ce", 3, 2), 0x7e4a8634);
	assert_int_equal(bloom_murmur3(0, "!C", 2, 2), 0xa0f7b07a);
	assert_int_equal(bloom_murmur3(0, "!", 1, 2), 0x72661cf4);
	assert_int_equal(bloom_murmur3(0x9747b28c, fox, strlen(fox), 2),
			 0x2fa826cd);
	assert_int_equal(bloom_murmur3(0x9747b28c, fox, strlen(fox), 1),
			 0x2fa826cd);
}

/*
 * Versions 1 and 2 of the hash function give the same hash for bytes below
 * 0x80.
 */
static void test_versions(void **state)
{
	static const struct {
		const char *path;
		bool same;
	} cases[] = {
		{"a/b/c", true},
		{"h\xc3\xa9llo", false},
		{"\x80", false},
		/*
		 * These bytes are above 0x7f. The hash is wrong if they are
		 * extended as signed characters.
		 */
		{"\x7f\x01", true},
		{"abc\xff", true},
		{"abcd\xff", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t len = strlen(cases[i].path);
		struct bloom_key a = bloom_key(cases[i].path, len, 1);
		struct bloom_key b = bloom_key(cases[i].path, len, 2);

		assert_int_equal(a.h0 == b.h0, cases[i].same);
		assert_int_equal(a.h1 == b.h1, cases[i].same);
	}
}

/* The example in bloom.h must give the bytes that are written there. */
static void test_dump(void **state)
{
	static const uint8_t want[] = {0xd9, 0x24};
	struct bloom_settings settings = bloom_settings(1);
	struct bloom_key key = bloom_key("g", 1, 1);
	uint8_t filter[2] = {0};

	assert_int_equal(key.h0, 0x3e3945d4);
	assert_int_equal(key.h1, 0x1b91d333);
	assert_int_equal(bloom_filter_len(1, &settings), 2);
	bloom_filter_add(filter, 2, &key, &settings);
	assert_memory_equal(filter, want, 2);
}

static void test_len(void **state)
{
	struct bloom_settings settings = bloom_settings(2);

	assert_int_equal(bloom_filter_len(0, &settings), 1);
	assert_int_equal(bloom_filter_len(4, &settings), 5);
	assert_int_equal(bloom_filter_len(5, &settings), 7);
	assert_int_equal(bloom_filter_len(512, &settings), 640);
}

static size_t random_path(char path[24], uint64_t *seed)
{
	size_t len = random_next(seed) % 20 + 1;

	for (size_t i = 0; i < len; i++)
		path[i] = (char)(random_next(seed) % 255 + 1);
	return len;
}

static void test_random(void **state)
{
	uint64_t seed = random_seed();
	unsigned wrong = 0, asked = 0;

	for (int round = 0; round < 200; round++) {
		struct bloom_settings settings = bloom_settings(1 +
								(round & 1));
		size_t nr = random_next(&seed) % 60 + 1;
		size_t len = bloom_filter_len(nr, &settings);
		uint8_t filter[128] = {0};
		uint64_t again = seed;
		char path[24];

		for (size_t i = 0; i < nr; i++) {
			size_t path_len = random_path(path, &seed);
			struct bloom_key key = bloom_key(path, path_len,
							 settings.version);

			bloom_filter_add(filter, len, &key, &settings);
		}
		for (size_t i = 0; i < nr; i++) {
			size_t path_len = random_path(path, &again);
			struct bloom_key key = bloom_key(path, path_len,
							 settings.version);

			assert_true(
				bloom_filter_has(filter, len, &key, &settings));
		}
		for (int i = 0; i < 50; i++, asked++) {
			size_t path_len = random_path(path, &seed);
			struct bloom_key key = bloom_key(path, path_len,
							 settings.version);

			wrong += bloom_filter_has(filter, len, &key, &settings);
		}
	}
	/*
	 * In theory, the filters answer "maybe changed" for one of 100
	 * unchanged paths. The test accepts four of 100.
	 */
	assert_true(wrong * 25 < asked);
}

static void test_not_computed(void **state)
{
	struct bloom_settings settings = bloom_settings(2);
	struct bloom_key key = bloom_key("a", 1, 2);
	const uint8_t none = 0, all = 0xff;

	assert_true(bloom_filter_has(NULL, 0, &key, &settings));
	assert_false(bloom_filter_has(&none, 1, &key, &settings));
	assert_true(bloom_filter_has(&all, 1, &key, &settings));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_murmur3),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_dump),
		cmocka_unit_test(test_len),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_not_computed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
