/* SPDX-License-Identifier: MIT */
/*
 * Tests of pack/idx-table.c, a table that makes look-ups in a pack index
 * faster. They prove that look-ups give the same results as without the table.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "pack/ids.h"
#include "pack/idx.h"
#include "t/unit/random.h"

struct sample {
	struct buf bytes;
	struct pack_idx idx;
	struct pack_idx_table table;
	struct oid *oids;
	uint32_t nr;
};

static int cmp_oids(const void *a, const void *b)
{
	return oid_cmp(a, b);
}

/*
 * Makes a pack index. The first `same` bytes of each id are zero. The table
 * that is tested divides all possible ids into ranges. So if `same` is not 0,
 * only the first ranges have ids, and all other ranges are empty.
 */
static void make(struct sample *s, uint32_t nr, size_t same,
		 enum hash_algo algo, unsigned version, uint64_t *seed)
{
	struct pack_idx_entry *entries = mem_calloc(nr, sizeof(*entries));
	struct oid checksum = OID_ZERO_INIT;

	memset(s, 0, sizeof(*s));
	s->nr = nr;
	s->oids = mem_calloc(nr, sizeof(*s->oids));
	assert_true(entries && s->oids);
	for (uint32_t i = 0; i < nr; i++)
		for (size_t k = same; k < hash_len(algo); k++)
			s->oids[i].bytes[k] = (uint8_t)random_next(seed);
	qsort(s->oids, nr, sizeof(*s->oids), cmp_oids);
	for (uint32_t i = 0; i < nr; i++)
		entries[i].oid = s->oids[i].bytes;
	assert_int_equal(pack_idx_write(&s->bytes, entries, nr, &checksum,
					version, algo, NULL),
			 0);
	assert_int_equal(pack_idx_parse(&s->idx, s->bytes.data, s->bytes.len,
					algo, "test.idx", NULL),
			 0);
	pack_idx_table_init(&s->table, &s->idx.ids);
	free(entries);
}

static void release(struct sample *s)
{
	pack_idx_table_release(&s->table);
	pack_idx_release(&s->idx);
	buf_release(&s->bytes);
	free(s->oids);
}

static void check_same(const struct sample *s, const uint8_t *raw)
{
	uint32_t plain = 0, fast = 0;
	bool found = pack_idx_find(&s->idx, raw, &plain);

	assert_int_equal(pack_idx_table_find(&s->table, raw, &fast), found);
	assert_int_equal(plain, fast);
}

static void check(const struct sample *s, uint64_t *seed)
{
	/*
	 * Copy the ids to memory of exactly their size, so that sanitizers
	 * report a read past the end.
	 */
	const uint8_t **raws = malloc(sizeof(*raws));

	assert_non_null(raws);
	for (uint32_t i = 0; i < s->nr; i++) {
		raws[0] = s->oids[i].bytes;
		pack_idx_table_prefetch(&s->table, raws, 1);
		check_same(s, raws[0]);
	}
	free(raws);
	for (int i = 0; i < 2000; i++) {
		struct oid oid = OID_ZERO_INIT;

		if (s->nr && i % 2)
			oid = s->oids[random_next(seed) % s->nr];
		oid.bytes[random_next(seed) % 20] ^= (uint8_t)random_next(seed);
		check_same(s, oid.bytes);
	}
	for (int i = 0; i < 256; i += 255) {
		struct oid oid;

		memset(&oid, i, sizeof(oid));
		check_same(s, oid.bytes);
	}
}

static void random_ids(void **state)
{
	static const uint32_t nrs[] = {0, 1, 3, 255, 1025, 5000};
	uint64_t seed = random_seed();

	for (int algo = HASH_SHA1; algo <= HASH_SHA256; algo++)
		for (size_t i = 0; i < ARRAY_NR(nrs); i++)
			for (size_t same = 0; same < 12; same += 3) {
				struct sample s;

				make(&s, nrs[i], same, algo, 1 + i % 2, &seed);
				assert_non_null(s.table.first);
				check(&s, &seed);
				release(&s);
			}
}

/*
 * If the ids of the index are not in ascending order, or if two are equal, no
 * look-up table is made.
 */
static void odd_indexes(void **state)
{
	uint64_t seed = random_seed();

	for (int twice = 0; twice < 2; twice++) {
		struct sample s;
		uint8_t *a, *b, id[20];

		make(&s, 1000, 0, HASH_SHA1, 2, &seed);
		pack_idx_table_release(&s.table);
		a = (uint8_t *)s.bytes.data + (s.idx.ids.first - s.idx.bytes) +
		    20 * 500;
		b = a + 20;
		memcpy(id, a, 20);
		memcpy(a, b, 20);
		if (!twice)
			memcpy(b, id, 20);
		pack_idx_table_init(&s.table, &s.idx.ids);
		assert_null(s.table.first);
		check(&s, &seed);
		release(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_ids),
		cmocka_unit_test(odd_indexes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
