/* SPDX-License-Identifier: MIT */
/*
 * Tests of pack/idx.c, which reads pack indexes. They prove that look-ups equal
 * a linear search, and that incomplete or changed files are noticed.
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
#include "pack/idx.h"
#include "t/unit/hexdump.h"
#include "t/unit/random.h"

/* The index file of one object that the opening comment of pack/idx.h shows. */
static const char example[] =
	"ff744f63 00000002 00000000 x 206 00000001 x 50"
	"ce013625 030ba8db a906f756 967f9e9c a394464a 52941500 0000000c"
	"de041240 1f4a9e5f 05411f44 eaf9c86d 46096746"
	"0b629745 910d3a0b e9ee1015 a3cd11b5 09020143";

static void *exact_copy(const void *bytes, size_t len)
{
	void *copy = mem_alloc(len, 1);

	assert_non_null(copy);
	memcpy(copy, bytes, len);
	return copy;
}

static void test_example(void **state)
{
	struct buf b = BUF_INIT;
	struct pack_idx idx;
	struct oid oid;
	uint32_t idx_pos = 7;

	hexdump_parse(&b, example);
	assert_int_equal(b.len, 0x44c);
	assert_int_equal(
		pack_idx_parse(&idx, b.data, b.len, HASH_SHA1, "x", NULL), 0);
	assert_int_equal(idx.version, 2);
	assert_int_equal(idx.nr, 1);
	assert_int_equal(idx.off64_nr, 0);
	assert_true(oid_from_hex(&oid,
				 "ce013625030ba8dba906f756967f9e9ca394464a", 40,
				 HASH_SHA1));
	assert_true(pack_idx_find(&idx, oid.bytes, &idx_pos));
	assert_int_equal(idx_pos, 0);
	assert_int_equal(pack_idx_offset(&idx, 0), 12);
	assert_int_equal(pack_idx_crc(&idx, 0), 0x52941500);
	assert_int_equal(idx.pack_checksum[0], 0xde);
	assert_int_equal(pack_idx_verify(&idx, NULL), 0);
	pack_idx_release(&idx);
	assert_null(idx.bytes);
	buf_release(&b);
}

/*
 * A pack index, and the entries from which it was written. The ids are random,
 * or have only few different first bytes.
 */
struct sample {
	struct oid *oids;
	struct pack_idx_entry *entries;
	uint32_t nr;
	struct buf file;
	struct pack_idx idx;
};

static int cmp_oids(const void *a, const void *b)
{
	return oid_cmp(a, b);
}

static void sample_init(struct sample *s, uint32_t nr, unsigned version,
			enum hash_algo algo, bool crowded, uint64_t *seed)
{
	struct oid checksum = {{1, 2, 3}};

	*s = (struct sample){.nr = nr, .file = BUF_INIT};
	s->oids = mem_calloc(nr, sizeof(*s->oids));
	s->entries = mem_calloc(nr, sizeof(*s->entries));
	assert_non_null(s->oids);
	assert_non_null(s->entries);
	for (uint32_t i = 0; i < nr; i++) {
		uint8_t *id = s->oids[i].bytes;

		for (size_t j = 0; j < hash_len(algo); j++)
			id[j] = (uint8_t)(random_next(seed) >> 24);
		if (crowded) {
			memset(id, i % 3 ? 0xab : 0x00, 9);
			id[0] = i % 2 ? 0xff : 0x7f;
			id[6] = (uint8_t)(i % 7 ? 0 : i);
		}
	}
	qsort(s->oids, nr, sizeof(*s->oids), cmp_oids);
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t off = random_next(seed) >> (version == 1 ? 32 : 20);

		if (version == 2 && i % 5)
			off &= 0x7fffffff;
		s->entries[i] = (struct pack_idx_entry){
			s->oids[i].bytes, off, (uint32_t)random_next(seed)};
	}
	assert_int_equal(pack_idx_write(&s->file, s->entries, nr, &checksum,
					version, algo, NULL),
			 0);
	assert_int_equal(pack_idx_parse(&s->idx, s->file.data, s->file.len,
					algo, "sample", NULL),
			 0);
}

static void sample_release(struct sample *s)
{
	pack_idx_release(&s->idx);
	buf_release(&s->file);
	free(s->entries);
	free(s->oids);
}

static void check_contents(const struct sample *s)
{
	assert_int_equal(s->idx.nr, s->nr);
	assert_int_equal(s->idx.pack_checksum[2], 3);
	assert_int_equal(pack_idx_verify(&s->idx, NULL), 0);
	for (uint32_t i = 0; i < s->nr; i++) {
		const struct pack_idx_entry *e = &s->entries[i];

		assert_memory_equal(pack_idx_oid(&s->idx, i), e->oid,
				    hash_len(s->idx.algo));
		assert_true(pack_idx_offset(&s->idx, i) == e->offset);
		assert_int_equal(pack_idx_crc(&s->idx, i),
				 s->idx.version == 1 ? 0 : e->crc);
	}
}

static void check_lookups(const struct sample *s, uint64_t *seed)
{
	uint32_t idx_pos;

	for (uint32_t i = 0; i < s->nr; i++) {
		struct oid near = s->oids[i];

		idx_pos = UINT32_MAX;
		assert_true(pack_idx_find(&s->idx, near.bytes, &idx_pos));
		assert_int_equal(idx_pos, i);
		near.bytes[hash_len(s->idx.algo) - 1] ^= 1;
		assert_false(pack_idx_find(&s->idx, near.bytes, &idx_pos));
		near.bytes[random_next(seed) % 8] ^= 0x10;
		assert_false(pack_idx_find(&s->idx, near.bytes, &idx_pos));
	}
}

static bool has_prefix(const uint8_t *raw, const struct oid *prefix,
		       size_t hex_len)
{
	for (size_t i = 0; i < hex_len; i++) {
		unsigned shift = i % 2 ? 0 : 4;

		if ((raw[i / 2] >> shift & 15) !=
		    (prefix->bytes[i / 2] >> shift & 15))
			return false;
	}
	return true;
}

static void check_prefix(const struct sample *s, const struct oid *prefix,
			 size_t hex_len)
{
	uint32_t first, last, nr = 0;

	pack_idx_find_prefix(&s->idx, prefix, hex_len, &first, &last);
	assert_true(first <= last && last <= s->nr);
	for (uint32_t i = 0; i < s->nr; i++) {
		bool hit = has_prefix(s->oids[i].bytes, prefix, hex_len);

		assert_int_equal(hit, i >= first && i < last);
		nr += hit;
	}
	assert_int_equal(nr, last - first);
}

static void check_prefixes(const struct sample *s)
{
	struct oid highest;

	memset(highest.bytes, 0xff, sizeof(highest.bytes));
	check_prefix(s, &highest, 2 * hash_len(s->idx.algo));
	check_prefix(s, &highest, 2);
	for (uint32_t i = 0; i < s->nr; i += s->nr / 8 + 1)
		for (size_t len = 0; len <= 2 * hash_len(s->idx.algo); len++)
			check_prefix(s, &s->oids[i], len);
}

static void test_lookups(void **state)
{
	static const uint32_t nrs[] = {0, 1, 2, 300, 3000};
	uint64_t seed = random_seed();

	for (unsigned version = 1; version <= 2; version++) {
		for (size_t i = 0; i < ARRAY_NR(nrs); i++) {
			for (int variant = 0; variant < 4; variant++) {
				struct sample s;

				sample_init(&s, nrs[i], version,
					    variant & 1 ? HASH_SHA256
							: HASH_SHA1,
					    variant & 2, &seed);
				check_contents(&s);
				check_lookups(&s, &seed);
				if (nrs[i] <= 300)
					check_prefixes(&s);
				sample_release(&s);
			}
		}
	}
}

static void test_cut(void **state)
{
	uint64_t seed = random_seed();

	for (unsigned version = 1; version <= 2; version++) {
		struct error err = ERROR_INIT;
		struct sample s;

		sample_init(&s, 5, version, HASH_SHA1, false, &seed);
		for (size_t len = 0; len <= s.file.len + 1; len++) {
			struct pack_idx idx;
			void *copy;

			if (len == s.file.len)
				continue;
			copy = mem_calloc(len, 1);
			memcpy(copy, s.file.data,
			       len < s.file.len ? len : s.file.len);
			/*
			 * If only the last eight bytes are missing, the file
			 * looks like a valid index with one 64-bit offset less.
			 * Only pack_idx_verify() detects this.
			 */
			if (!pack_idx_parse(&idx, copy, len, HASH_SHA1, "cut",
					    &err)) {
				assert_int_equal(version, 2);
				assert_int_equal(len, s.file.len - 8);
				assert_int_equal(pack_idx_verify(&idx, &err),
						 ERR_CORRUPT);
				pack_idx_release(&idx);
			}
			assert_int_equal(err.code, ERR_CORRUPT);
			free(copy);
		}
		sample_release(&s);
	}
}

/*
 * Calls all functions with an index that may be invalid. No function may read
 * outside of the index's bytes.
 */
static void use_all(const struct pack_idx *idx, const struct sample *s)
{
	uint32_t first, last, idx_pos;

	for (uint32_t i = 0; i < idx->nr; i++) {
		pack_idx_offset(idx, i);
		pack_idx_crc(idx, i);
	}
	for (uint32_t i = 0; i < s->nr; i++) {
		if (pack_idx_find(idx, s->oids[i].bytes, &idx_pos))
			assert_true(idx_pos < idx->nr);
		pack_idx_find_prefix(idx, &s->oids[i], 7, &first, &last);
		assert_true(first <= last && last <= idx->nr);
	}
}

static void test_changed(void **state)
{
	uint64_t seed = random_seed();
	struct sample s;

	sample_init(&s, 40, 2, HASH_SHA1, false, &seed);
	for (size_t i = 0; i < s.file.len; i++) {
		uint8_t *copy = exact_copy(s.file.data, s.file.len);
		struct pack_idx idx;

		copy[i] ^= (uint8_t)(random_next(&seed) % 255 + 1);
		if (!pack_idx_parse(&idx, copy, s.file.len, HASH_SHA1,
				    "changed", NULL)) {
			use_all(&idx, &s);
			assert_int_equal(pack_idx_verify(&idx, NULL),
					 ERR_CORRUPT);
			pack_idx_release(&idx);
		}
		free(copy);
	}
	sample_release(&s);
}

static void test_unsupported(void **state)
{
	struct error err = ERROR_INIT;
	struct buf b = BUF_INIT;
	struct pack_idx idx;

	hexdump_parse(&b, example);
	store_be32(b.data + 4, 3);
	assert_int_equal(
		pack_idx_parse(&idx, b.data, b.len, HASH_SHA1, "f", &err),
		ERR_UNSUPPORTED);
	assert_string_equal(err.msg, "f: index version 3 is not known");
	assert_null(idx.name);
	store_be32(b.data + 4, 2);
	assert_int_equal(
		pack_idx_parse(&idx, b.data, b.len, HASH_SHA256, "f", &err),
		ERR_CORRUPT);
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_example),
		cmocka_unit_test(test_lookups),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_changed),
		cmocka_unit_test(test_unsupported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
