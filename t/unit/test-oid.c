/* SPDX-License-Identifier: MIT */
/*
 * Tests of object/oid.c: hexadecimal ids are parsed and printed, malformed ids
 * are refused, and files with one id on each line are read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <ctype.h>

#include "base/bytes.h"
#include "object/oid.h"

#define HEX40 "0123456789abcdef0123456789abcdef01234567"
#define HEX64 HEX40 "89abcdef0123456789abcdef"

static void test_names(void **state)
{
	enum hash_algo algo = HASH_SHA1;

	assert_string_equal(hash_name(HASH_SHA1), "sha1");
	assert_string_equal(hash_name(HASH_SHA256), "sha256");
	assert_true(hash_by_name(&algo, "sha256"));
	assert_int_equal(algo, HASH_SHA256);
	assert_false(hash_by_name(&algo, "md5"));
	assert_int_equal(algo, HASH_SHA256);
	assert_true(hash_by_name(&algo, "sha1"));
	assert_int_equal(algo, HASH_SHA1);
	assert_int_equal(hash_len(HASH_SHA1), 20);
	assert_int_equal(hash_hex_len(HASH_SHA256), 64);
}

static void test_hex_round_trip(void **state)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid oid, raw;

	assert_true(oid_from_hex(&oid, HEX40, 40, HASH_SHA1));
	assert_int_equal(oid.bytes[0], 0x01);
	assert_int_equal(oid.bytes[19], 0x67);
	for (size_t i = 20; i < OID_MAX_LEN; i++)
		assert_int_equal(oid.bytes[i], 0);
	assert_string_equal(oid_to_hex(hex, &oid, HASH_SHA1), HEX40);

	assert_true(oid_from_hex(&oid, HEX64, 64, HASH_SHA256));
	assert_string_equal(oid_to_hex(hex, &oid, HASH_SHA256), HEX64);
	oid_from_raw(&raw, oid.bytes, HASH_SHA256);
	assert_true(oid_equal(&raw, &oid));
	oid_from_raw(&raw, oid.bytes, HASH_SHA1);
	assert_string_equal(oid_raw_to_hex(hex, raw.bytes, HASH_SHA1), HEX40);
	assert_int_equal(raw.bytes[20], 0);
}

static void test_hex_rejects(void **state)
{
	char hex[] = HEX40;
	struct oid oid, before;

	memset(&before, 0x5a, sizeof(before));
	oid = before;
	assert_false(oid_from_hex(&oid, HEX40, 39, HASH_SHA1));
	assert_false(oid_from_hex(&oid, HEX40, 40, HASH_SHA256));
	for (int c = 0; c < 256; c++) {
		bool digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') ||
			     (c >= 'A' && c <= 'F');

		hex[c % 40] = (char)c;
		assert_int_equal(oid_from_hex(&oid, hex, 40, HASH_SHA1), digit);
		hex[c % 40] = HEX40[c % 40];
		if (!digit)
			assert_true(oid_equal(&oid, &before));
		oid = before;
	}
}

/*
 * Puts every byte value at every position of a hexadecimal id, for ids of both
 * lengths.
 */
static void test_hex_everywhere(void **state)
{
	for (size_t at = 0; at < 64; at++) {
		for (int c = 0; c < 256; c++) {
			char hex[] = HEX64, back[OID_MAX_HEX_LEN + 1];
			struct oid oid;
			bool good = isxdigit(c);

			hex[at] = (char)c;
			assert_int_equal(
				oid_from_hex(&oid, hex, 64, HASH_SHA256), good);
			hex[at] = (char)tolower(c);
			if (good)
				assert_string_equal(
					oid_to_hex(back, &oid, HASH_SHA256),
					hex);
			assert_int_equal(oid_from_hex(&oid, hex, 40, HASH_SHA1),
					 good || at >= 40);
			hex[40] = '\0';
			if (good || at >= 40)
				assert_string_equal(
					oid_to_hex(back, &oid, HASH_SHA1), hex);
		}
	}
}

static void test_upper_case(void **state)
{
	struct oid lower, upper;

	assert_true(oid_from_hex(&lower, HEX40, 40, HASH_SHA1));
	assert_true(oid_from_hex(&upper,
				 "0123456789ABCDEF0123456789ABCDEF01234567", 40,
				 HASH_SHA1));
	assert_true(oid_equal(&lower, &upper));
}

static void test_compare(void **state)
{
	struct oid a = OID_ZERO_INIT, b = OID_ZERO_INIT;

	assert_true(oid_is_zero(&a));
	b.bytes[31] = 1;
	assert_false(oid_is_zero(&b));
	assert_true(oid_cmp(&a, &b) < 0);
	a.bytes[0] = 0x80;
	assert_true(oid_cmp(&a, &b) > 0);
	assert_false(oid_equal(&a, &b));
}

/* The ids are those that `git hash-object -t tree /dev/null` prints. */
static void test_empty_tree(void **state)
{
	char hex[OID_MAX_HEX_LEN + 1];

	assert_string_equal(
		oid_to_hex(hex, oid_empty_tree(HASH_SHA1), HASH_SHA1),
		"4b825dc642cb6eb9a060e54bf8d69288fbee4904");
	assert_string_equal(
		oid_to_hex(hex, oid_empty_tree(HASH_SHA256), HASH_SHA256),
		"6ef19b41225c5369f1c104d45d8d85ef"
		"a9b057b53b14b4b9b939dd74decc5321");
}

#define A "2f4045abf1af51f49ecff8034da3bca195a47c77"
#define B "6949608296cf6f325502708aa42097b5c5144209"

/*
 * Reads ids into `oids` up to the end of the text or the first error. Sets *nr
 * to their number. Returns 0, or the error code of oid_lines_next().
 */
static int read_all(struct oid *oids, size_t *nr, const char *text,
		    enum hash_algo algo, struct error *err)
{
	struct cursor c = cursor_make(text, strlen(text));
	int ret;

	*nr = 0;
	while ((ret = oid_lines_next(&oids[*nr], &c, algo, "test", err)) > 0)
		++*nr;
	return ret;
}

static void test_lines(void **state)
{
	static const char *const texts[] = {A "\n" B "\n", A "\n" B};
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid oids[4];
	size_t nr;

	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(read_all(oids, &nr, texts[i], HASH_SHA1, NULL),
				 0);
		assert_int_equal(nr, 2);
		assert_string_equal(oid_to_hex(hex, &oids[0], HASH_SHA1), A);
		assert_string_equal(oid_to_hex(hex, &oids[1], HASH_SHA1), B);
	}
	assert_int_equal(read_all(oids, &nr, "", HASH_SHA1, NULL), 0);
	assert_int_equal(nr, 0);
	assert_int_equal(read_all(oids, &nr, A "012345678901234567890123\n",
				  HASH_SHA256, NULL),
			 0);
	assert_int_equal(nr, 1);
}

static void test_no_hash(void **state)
{
	static const char *const texts[] = {A "\n\n",       A "\nx",
					    A "\n" B "0\n", A "\n" B " \n",
					    A "\n\r",       A "\n\n" B "\n"};
	struct error err = ERROR_INIT;
	struct oid oids[4];
	size_t nr;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_equal(read_all(oids, &nr, texts[i], HASH_SHA1, &err),
				 ERR_CORRUPT);
		assert_int_equal(nr, 1);
	}
	assert_int_equal(read_all(oids, &nr, "nonsense\n", HASH_SHA1, &err),
			 ERR_CORRUPT);
	assert_string_equal(err.msg,
			    "invalid test: line 'nonsense' not a hash");
}

/*
 * Returns whether one of `nr` ids equals *oid. Tests compare oid_raw_find()
 * with this linear search.
 */
static bool has_raw(const uint8_t *ids, uint32_t nr, const struct oid *oid)
{
	for (uint32_t i = 0; i < nr; i++)
		if (!memcmp(ids + i * 20, oid->bytes, 20))
			return true;
	return false;
}

/*
 * Look up ids in a sorted array of `nr` ids. Ids 2k and 2k + 1 have the same
 * first 8 bytes: k, shifted left by `shift` bits. Their last bytes differ.
 */
static void check_find(uint32_t nr, unsigned shift)
{
	struct oid oid = OID_ZERO_INIT;
	uint8_t ids[300 * 20] = {0};
	uint32_t at;

	for (uint32_t i = 0; i < nr; i++) {
		store_be64(ids + i * 20, (uint64_t)(i / 2) << shift);
		ids[i * 20 + 19] = i % 2 ? 7 : 3;
	}
	for (uint32_t i = 0; i <= nr; i++)
		for (uint8_t last = 3; last < 9; last++) {
			bool found;

			store_be64(oid.bytes, (uint64_t)(i / 2) << shift);
			oid.bytes[19] = last;
			found = oid_raw_find(ids, nr, &oid, HASH_SHA1, &at);
			assert_int_equal(found, has_raw(ids, nr, &oid));
			if (found)
				assert_memory_equal(ids + at * 20, oid.bytes,
						    20);
		}
}

static void test_find(void **state)
{
	for (uint32_t nr = 0; nr <= 300; nr += 1 + nr / 3)
		for (unsigned shift = 0; shift <= 56; shift += 8)
			check_find(nr, shift);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_hex_round_trip),
		cmocka_unit_test(test_hex_rejects),
		cmocka_unit_test(test_hex_everywhere),
		cmocka_unit_test(test_upper_case),
		cmocka_unit_test(test_compare),
		cmocka_unit_test(test_empty_tree),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_no_hash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
