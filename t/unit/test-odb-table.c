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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_answers),
		cmocka_unit_test(nothing_packed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
