/* SPDX-License-Identifier: MIT */
/*
 * Tests of pack/rev.c, the reverse index of a pack: written, parsed and
 * computed tables must be the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "pack/rev.h"
#include "t/unit/hexdump.h"
#include "t/unit/random.h"

enum { NR = 500 };

struct sample {
	struct oid oids[NR];
	uint64_t offsets[NR]; /* indexed by idx_pos */
	uint64_t pack_len;
	struct oid checksum;
	struct buf idx_file;
	struct pack_idx idx;
};

/*
 * Makes a pack index. The offsets of its objects are in random order. If
 * `is_large`, some offsets need 64 bits.
 */
static void sample_init(struct sample *s, enum hash_algo algo, bool is_large,
			uint64_t *seed)
{
	struct pack_idx_entry entries[NR];
	uint64_t off = 12;

	memset(s, 0, sizeof(*s));
	buf_init(&s->idx_file);
	s->checksum.bytes[0] = 0x77;
	for (uint32_t i = 0; i < NR; i++) {
		store_be32(s->oids[i].bytes, i * 8000000);
		s->offsets[i] = off;
		off += 1 + random_next(seed) %
				   (is_large && i == 250 ? 1ULL << 34 : 5000);
	}
	s->pack_len = off + hash_len(algo);
	for (uint32_t i = NR - 1; i > 0; i--) {
		uint32_t j = (uint32_t)(random_next(seed) % (i + 1));
		uint64_t t = s->offsets[i];

		s->offsets[i] = s->offsets[j];
		s->offsets[j] = t;
	}
	for (uint32_t i = 0; i < NR; i++)
		entries[i] = (struct pack_idx_entry){s->oids[i].bytes,
						     s->offsets[i], 0};
	assert_int_equal(pack_idx_write(&s->idx_file, entries, NR, &s->checksum,
					2, algo, NULL),
			 0);
	assert_int_equal(pack_idx_parse(&s->idx, s->idx_file.data,
					s->idx_file.len, algo, "sample", NULL),
			 0);
}

static void sample_release(struct sample *s)
{
	pack_idx_release(&s->idx);
	buf_release(&s->idx_file);
}

static void check_rev(const struct pack_rev *rev, const struct sample *s)
{
	uint32_t *inverse = pack_rev_invert(rev);
	uint32_t pack_pos;

	assert_non_null(inverse);
	for (uint32_t i = 0; i < NR; i++) {
		uint32_t idx_pos = pack_rev_idx_pos(rev, i);
		uint64_t off = pack_rev_offset(rev, i);

		assert_true(off == s->offsets[idx_pos]);
		assert_true(off < pack_rev_offset(rev, i + 1));
		assert_int_equal(inverse[idx_pos], i);
		assert_true(pack_rev_find_entry(rev, off, &pack_pos));
		assert_int_equal(pack_rev_offset(rev, pack_pos), off);
		assert_true(pack_rev_find_entry(
			rev, pack_rev_offset(rev, pack_pos + 1) - 1,
			&pack_pos));
		assert_int_equal(pack_rev_offset(rev, pack_pos), off);
		assert_true(pack_rev_find(rev, off, &pack_pos));
		assert_int_equal(pack_pos, i);
		if (off + 1 != pack_rev_offset(rev, i + 1))
			assert_false(pack_rev_find(rev, off + 1, &pack_pos));
	}
	assert_true(pack_rev_offset(rev, NR) ==
		    s->pack_len - hash_len(s->idx.algo));
	assert_false(pack_rev_find(rev, 0, &pack_pos));
	assert_false(pack_rev_find(rev, s->pack_len, &pack_pos));
	assert_false(pack_rev_find_entry(rev, 0, &pack_pos));
	assert_false(pack_rev_find_entry(rev, rev->end, &pack_pos));
	free(inverse);
}

static void check_algo(enum hash_algo algo, bool is_large, uint64_t *seed)
{
	struct pack_rev computed, parsed;
	struct buf file = BUF_INIT;
	struct sample s;

	sample_init(&s, algo, is_large, seed);
	assert_int_equal(pack_rev_compute(&computed, &s.idx, s.pack_len), 0);
	check_rev(&computed, &s);
	assert_int_equal(pack_rev_write(&file, computed.owned, NR, &s.checksum,
					algo, NULL),
			 0);
	assert_int_equal(pack_rev_parse(&parsed, &s.idx, s.pack_len, file.data,
					file.len, "rev", NULL),
			 0);
	check_rev(&parsed, &s);
	assert_int_equal(pack_rev_verify(&parsed, "rev", NULL), 0);
	pack_rev_release(&parsed);
	pack_rev_release(&computed);
	assert_null(computed.owned);
	buf_release(&file);
	sample_release(&s);
}

static void test_written_parsed_computed(void **state)
{
	uint64_t seed = random_seed();

	check_algo(HASH_SHA1, true, &seed);
	check_algo(HASH_SHA1, false, &seed);
	check_algo(HASH_SHA256, true, &seed);
}

/*
 * The examples of a pack index and a reverse index in pack/idx.h and
 * pack/rev.h.
 */
static void test_example(void **state)
{
	static const uint32_t order[1] = {0};
	struct buf idx_file = BUF_INIT, want = BUF_INIT, out = BUF_INIT;
	struct pack_idx idx;
	struct pack_rev rev;
	struct oid checksum;

	hexdump_parse(&idx_file,
		      "ff744f63 00000002 00000000 x 206 00000001 x 50"
		      "ce013625 030ba8db a906f756 967f9e9c a394464a"
		      "52941500 0000000c"
		      "de041240 1f4a9e5f 05411f44 eaf9c86d 46096746"
		      "0b629745 910d3a0b e9ee1015 a3cd11b5 09020143");
	hexdump_parse(&want, "52494458 00000001 00000001 00000000"
			     "de041240 1f4a9e5f 05411f44 eaf9c86d 46096746"
			     "3ad96d08 cfcb2d8c 20a27595 b7adb9f1 cdc0b38a");
	assert_int_equal(pack_idx_parse(&idx, idx_file.data, idx_file.len,
					HASH_SHA1, "idx", NULL),
			 0);
	assert_int_equal(pack_rev_parse(&rev, &idx, 47, want.data, want.len,
					"rev", NULL),
			 0);
	assert_int_equal(pack_rev_idx_pos(&rev, 0), 0);
	assert_int_equal(pack_rev_offset(&rev, 0), 12);
	assert_int_equal(pack_rev_offset(&rev, 1), 27);
	oid_from_raw(&checksum, idx.pack_checksum, HASH_SHA1);
	assert_int_equal(
		pack_rev_write(&out, order, 1, &checksum, HASH_SHA1, NULL), 0);
	assert_int_equal(out.len, want.len);
	assert_memory_equal(out.data, want.data, want.len);
	pack_rev_release(&rev);
	pack_idx_release(&idx);
	buf_release(&out);
	buf_release(&want);
	buf_release(&idx_file);
}

static int parse(const struct sample *s, const void *bytes, size_t len)
{
	struct pack_rev rev;
	int ret = pack_rev_parse(&rev, &s->idx, s->pack_len, bytes, len, "rev",
				 NULL);

	if (ret < 0)
		return ret;
	/*
	 * Even if the reverse index is wrong, all results must be valid
	 * positions.
	 */
	for (uint32_t i = 0; i < s->idx.nr; i++)
		assert_true(pack_rev_idx_pos(&rev, i) < s->idx.nr);
	ret = pack_rev_verify(&rev, "rev", NULL);
	pack_rev_release(&rev);
	return ret;
}

static void test_refused(void **state)
{
	static const size_t must_match[] = {0, 3, 7, 11};
	uint64_t seed = random_seed();
	struct buf file = BUF_INIT;
	struct pack_rev rev;
	struct sample s;

	sample_init(&s, HASH_SHA1, true, &seed);
	assert_int_equal(pack_rev_compute(&rev, &s.idx, s.pack_len), 0);
	assert_int_equal(pack_rev_write(&file, rev.owned, NR, &s.checksum,
					HASH_SHA1, NULL),
			 0);
	for (size_t len = 0; len < file.len; len++)
		assert_int_equal(parse(&s, file.data, len), ERR_CORRUPT);
	for (size_t i = 0; i < ARRAY_NR(must_match); i++) {
		file.data[must_match[i]] ^= 3;
		assert_int_equal(parse(&s, file.data, file.len), ERR_CORRUPT);
		file.data[must_match[i]] ^= 3;
	}
	file.data[file.len - 40] ^= 1; /* the pack's checksum */
	assert_int_equal(parse(&s, file.data, file.len), ERR_CORRUPT);
	pack_rev_release(&rev);
	buf_release(&file);
	sample_release(&s);
}

/*
 * Damaged reverse indexes: in some the offsets are not sorted, in others an
 * object is missing. Verifying must fail.
 */
static void check_lies(bool is_large)
{
	uint64_t seed = random_seed();
	struct buf file = BUF_INIT;
	struct pack_rev rev;
	struct sample s;
	uint8_t *table;

	sample_init(&s, HASH_SHA1, is_large, &seed);
	assert_int_equal(pack_rev_compute(&rev, &s.idx, s.pack_len), 0);
	assert_int_equal(pack_rev_write(&file, rev.owned, NR, &s.checksum,
					HASH_SHA1, NULL),
			 0);
	table = (uint8_t *)file.data + 12;
	for (uint32_t i = 0; i < 4 * NR; i++) {
		table[i] ^= (uint8_t)(1 << random_next(&seed) % 8);
		assert_int_equal(parse(&s, file.data, file.len), ERR_CORRUPT);
		store_be32(table + i / 4 * 4, rev.owned[i / 4]);
	}
	for (uint32_t i = 0; i < NR; i++) {
		uint32_t k = (uint32_t)(random_next(&seed) % NR);

		if (i == k)
			continue;
		store_be32(table + 4 * i, rev.owned[k]);
		assert_int_equal(parse(&s, file.data, file.len), ERR_CORRUPT);
		store_be32(table + 4 * k, rev.owned[i]);
		assert_int_equal(parse(&s, file.data, file.len), ERR_CORRUPT);
		store_be32(table + 4 * i, rev.owned[i]);
		store_be32(table + 4 * k, rev.owned[k]);
	}
	pack_rev_release(&rev);
	buf_release(&file);
	sample_release(&s);
}

static void test_lies(void **state)
{
	check_lies(true);
	check_lies(false);
}

/*
 * pack_rev_find_near() starts its search for an offset at a given position.
 * From every position, it must find each entry. It must find nothing at offsets
 * at which no entry begins.
 */
static void test_near(void **state)
{
	uint64_t seed = random_seed();
	struct pack_rev rev;
	struct sample s;

	sample_init(&s, HASH_SHA1, false, &seed);
	assert_int_equal(pack_rev_compute(&rev, &s.idx, s.pack_len), 0);
	for (uint32_t i = 0; i < NR; i++)
		for (uint32_t near = 0; near <= NR; near += 1 + near % 7) {
			uint64_t off = pack_rev_offset(&rev, i);
			uint32_t at = NR, none;

			assert_true(pack_rev_find_near(&rev, near, off, &at));
			assert_int_equal(at, i);
			if (pack_rev_offset(&rev, i + 1) > off + 1)
				assert_false(pack_rev_find_near(
					&rev, near, off + 1, &none));
		}
	pack_rev_release(&rev);
	sample_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_written_parsed_computed),
		cmocka_unit_test(test_example),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_near),
		cmocka_unit_test(test_lies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
