/* SPDX-License-Identifier: MIT */
/*
 * Tests of pack/ids.c, the sorted tables of object ids in index files. They
 * prove that look-ups equal a linear search, and that wrong tables are refused.
 * test-idx.c has further tests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "pack/ids.h"
#include "t/unit/random.h"

enum { NR = 300, STRIDE = 36 };

/*
 * A table of ids in which 4 other bytes come before each id, as in a pack index
 * of version 1.
 */
struct sample {
	uint8_t fanout[256 * 4];
	uint8_t bytes[NR * STRIDE];
	struct pack_ids ids;
};

static int cmp_ids(const void *a, const void *b)
{
	return memcmp(a, b, OID_MAX_LEN);
}

static void sample_init(struct sample *s, uint64_t *seed)
{
	uint32_t upto = 0;

	for (size_t i = 0; i < sizeof(s->bytes); i++)
		s->bytes[i] = (uint8_t)(random_next(seed) >> 20);
	/* Every third id has one of four different first bytes. */
	for (size_t i = 0; i < NR; i++)
		s->bytes[i * STRIDE] &= i % 3 ? 0xff : 0x11;
	/* Every fourth id differs from the id before it only at the end. */
	for (size_t i = 1; i < NR; i += 4) {
		uint8_t *id = s->bytes + i * STRIDE;

		memcpy(id, id - STRIDE, OID_MAX_LEN);
		id[OID_MAX_LEN - 1] ^= 2;
	}
	qsort(s->bytes, NR, STRIDE, cmp_ids);
	for (unsigned byte = 0; byte < 256; byte++) {
		while (upto < NR && s->bytes[(size_t)upto * STRIDE] <= byte)
			upto++;
		store_be32(s->fanout + (size_t)4 * byte, upto);
	}
	s->ids = (struct pack_ids){s->fanout, s->bytes, STRIDE, NR,
				   HASH_SHA256};
}

/*
 * Counts the ids whose first `hex_len` hexadecimal digits are those of `oid`.
 */
static uint32_t count_prefix(const struct sample *s, const struct oid *oid,
			     size_t hex_len)
{
	char want[OID_MAX_HEX_LEN + 1], hex[OID_MAX_HEX_LEN + 1];
	uint32_t nr = 0;

	oid_to_hex(want, oid, HASH_SHA256);
	for (uint32_t i = 0; i < NR; i++) {
		oid_raw_to_hex(hex, pack_ids_at(&s->ids, i), HASH_SHA256);
		nr += !memcmp(want, hex, hex_len);
	}
	return nr;
}

static void test_find(void **state)
{
	uint64_t seed = random_seed();
	uint32_t found, first, last;
	struct sample s;
	struct oid oid;

	sample_init(&s, &seed);
	for (uint32_t i = 0; i < NR; i++) {
		oid_from_raw(&oid, pack_ids_at(&s.ids, i), HASH_SHA256);
		assert_true(pack_ids_find(&s.ids, oid.bytes, &found));
		assert_int_equal(found, i);
		assert_int_equal(
			pack_ids_check(&s.ids, i, s.bytes, "ids", NULL), 0);
		for (size_t hex_len = 0; hex_len < 5; hex_len++) {
			pack_ids_find_prefix(&s.ids, &oid, hex_len, &first,
					     &last);
			assert_true(first <= i && i < last);
			assert_int_equal(last - first,
					 count_prefix(&s, &oid, hex_len));
		}
		/*
		 * If the prefix has more digits than an id, the whole id is
		 * compared.
		 */
		pack_ids_find_prefix(&s.ids, &oid, 200, &first, &last);
		assert_int_equal(first, i);
		assert_int_equal(last, i + 1);
		oid.bytes[31] ^= 1;
		assert_false(pack_ids_find(&s.ids, oid.bytes, &found));
	}
}

static void test_check(void **state)
{
	uint64_t seed = random_seed();
	struct error err = ERROR_INIT;
	struct sample s;
	uint32_t nr;

	sample_init(&s, &seed);
	assert_int_equal(pack_fanout_check(&nr, s.fanout, "f", 8, NULL), 0);
	assert_int_equal(nr, NR);
	s.bytes[(size_t)9 * STRIDE] = 0xff;
	assert_int_equal(pack_ids_check(&s.ids, 9, s.bytes, "f", NULL),
			 ERR_CORRUPT);
	memcpy(s.bytes + (size_t)9 * STRIDE, s.bytes + (size_t)10 * STRIDE,
	       OID_MAX_LEN);
	s.bytes[(size_t)9 * STRIDE + 31] = 2;
	s.bytes[(size_t)10 * STRIDE + 31] = 1;
	assert_int_equal(pack_ids_check(&s.ids, 10, s.bytes, "f", NULL),
			 ERR_CORRUPT);
	store_be32(s.fanout + 4, NR + 1);
	assert_int_equal(pack_fanout_check(&nr, s.fanout, "f", 8, &err),
			 ERR_CORRUPT);
	assert_string_equal(err.msg, "f: fanout not ascending at offset 16");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_check),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
