/* SPDX-License-Identifier: MIT */
/*
 * Tests of odb/odb-table.c, a hash table of all packed ids. The table must give
 * the same results as odb_find_raw().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <time.h>

#include "base/bytes.h"
#include "odb/odb-table.h"
#include "t/unit/walkrepo.h"

static void check(const struct odb *odb, const struct odb_table *table,
		  const uint8_t *raw)
{
	uint32_t expected = 0, actual = 0;
	bool found = odb_find_raw(odb, raw, &expected);

	assert_int_equal(odb_table_find(table, raw, &actual), found);
	assert_int_equal(actual, expected);
}

/*
 * Looks up the ids of objects in one or several packs, and similar ids that do
 * not exist.
 */
static void same_answers(void **state)
{
	uint64_t seed = random_seed();

	for (int algo = HASH_SHA1; algo <= HASH_SHA256; algo++) {
		struct odb_table table;
		struct walkrepo w;

		walkrepo_init(&w, algo, &seed, 60, 5);
		assert_true(w.odb->pack_nr > 1);
		assert_int_equal(odb_table_init(&table, w.odb), 0);
		for (uint32_t i = 0; i < w.h.r.nr; i++) {
			struct oid oid = w.h.r.objects[i].oid;

			check(w.odb, &table, oid.bytes);
			oid.bytes[random_next(&seed) % hash_len(algo)] ^= 1;
			check(w.odb, &table, oid.bytes);
		}
		odb_table_release(&table);
		walkrepo_release(&w);
	}
}

/* The table of a repository without packs is empty. */
static void nothing_packed(void **state)
{
	uint64_t seed = random_seed();
	struct odb_table table;
	struct randrepo r;
	struct odb *odb;

	randrepo_init(&r, HASH_SHA1, &seed);
	randrepo_history(&r, 2);
	randrepo_store(&r);
	assert_int_equal(odb_open(&odb, &r.t.repo, NULL, NULL), 0);
	assert_int_equal(odb_table_init(&table, odb), 0);
	for (uint32_t i = 0; i < r.nr; i++)
		check(odb, &table, r.objects[i].oid.bytes);
	odb_table_release(&table);
	odb_close(odb);
	randrepo_release(&r);
}

enum { ALIKE_NR = 100000 };

/* Makes an index of ALIKE_NR ids that begin with the same 32 bits. */
static void write_alike(struct buf *out, uint8_t (*ids)[OID_MAX_LEN])
{
	struct pack_idx_entry *entries = calloc(ALIKE_NR, sizeof(*entries));
	const struct oid checksum = OID_ZERO_INIT;

	assert_non_null(entries);
	for (uint32_t i = 0; i < ALIKE_NR; i++) {
		store_be32(ids[i], 0x12345678);
		store_be32(ids[i] + 4, 2 * i);
		store_be32(ids[i] + 8, i * 0x9e3779b9);
		entries[i].oid = ids[i];
	}
	assert_int_equal(pack_idx_write(out, entries, ALIKE_NR, &checksum, 2,
					HASH_SHA1, NULL),
			 0);
	free(entries);
}

/*
 * A client has pushed many objects whose ids begin with the same bits. The
 * searches need little time: without a limit of the probes of one search, they
 * need more than ten seconds together.
 */
static void many_alike(void **state)
{
	uint8_t(*ids)[OID_MAX_LEN] = calloc(ALIKE_NR, sizeof(*ids));
	struct pack pack = {.algo = HASH_SHA1};
	struct odb_pack op = {.pack = &pack};
	struct odb odb = {.algo = HASH_SHA1, .packs = &op, .pack_nr = 1};
	struct odb_source source = {.ids = &pack.idx.ids};
	struct odb_table table;
	struct buf idx = BUF_INIT;
	clock_t start;

	assert_non_null(ids);
	write_alike(&idx, ids);
	assert_int_equal(pack_idx_parse(&pack.idx, idx.data, idx.len, HASH_SHA1,
					"alike.idx", NULL),
			 0);
	odb.sources = &source;
	odb.source_nr = 1;
	odb.packed_nr = ALIKE_NR;
	start = clock();
	assert_int_equal(odb_table_init(&table, &odb), 0);
	for (uint32_t i = 0; i < ALIKE_NR; i++) {
		check(&odb, &table, ids[i]);
		ids[i][7] ^= 1;
		check(&odb, &table, ids[i]);
	}
	assert_true((clock() - start) / CLOCKS_PER_SEC < 5);
	odb_table_release(&table);
	pack_idx_release(&pack.idx);
	buf_release(&idx);
	free(ids);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_answers),
		cmocka_unit_test(nothing_packed),
		cmocka_unit_test(many_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
