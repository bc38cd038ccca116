/* SPDX-License-Identifier: MIT */
/*
 * Tests of trees/entry-pool.c, which gives numbers to tree entries. They prove
 * that different entries never get the same number, and that equal entries
 * nearly always do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "t/unit/random.h"
#include "trees/entry-pool.h"

#define ENTRIES 5000

struct sample {
	char raw[40];
	size_t len;
};

/*
 * Makes the tree entry "100644 <name>\0<20 bytes>" from a number. There are few
 * names and ids, but many combinations of them.
 */
static void make(struct sample *s, uint64_t number)
{
	uint64_t id = number % 71;
	int n = snprintf(s->raw, sizeof(s->raw), "100644 n%u",
			 (unsigned)(number / 71));

	memset(s->raw + n + 1, 0, 20);
	memcpy(s->raw + n + 1 + id % 12, &id, sizeof(id));
	s->len = (size_t)n + 21;
}

/*
 * Makes `nr` tree entries from `numbers` and puts them into the pool. Sets
 * entry_nrs[i] to the number that the pool gives to entry i. Checks that each
 * number leads back to the entry.
 */
static void add_some(struct entry_pool *pool, const uint64_t *numbers,
		     uint32_t nr, uint32_t *entry_nrs)
{
	struct sample s;

	for (uint32_t i = 0; i < nr; i++) {
		make(&s, numbers[i]);
		assert_int_equal(entry_pool_put(pool, (uint8_t *)s.raw, s.len),
				 0);
	}
	entry_pool_settle(pool, entry_nrs);
	assert_int_equal(pool->waiting_nr, 0);
	assert_int_equal(pool->end, pool->used);
	for (uint32_t i = 0; i < nr; i++) {
		make(&s, numbers[i]);
		assert_int_equal(entry_pool_len(pool, entry_nrs[i]), s.len);
		assert_memory_equal(entry_pool_raw(pool, entry_nrs[i]), s.raw,
				    s.len);
	}
}

static uint32_t add(struct entry_pool *pool, uint64_t number)
{
	uint32_t nr;

	add_some(pool, &number, 1, &nr);
	return nr;
}

/* Checks that a pass over the pool's memory visits each tree entry once. */
static void check_places(const struct entry_pool *pool)
{
	uint32_t at = 0;
	size_t nr = 0;

	for (; at < pool->used; nr++)
		at = entry_pool_after(pool, at);
	assert_int_equal(at, pool->used);
	assert_int_equal(nr, pool->nr);
}

static void fill(struct entry_pool *pool, uint64_t *seed)
{
	uint32_t *nr_of = mem_alloc(ENTRIES, sizeof(*nr_of));
	uint32_t again = 0, asked = 0;

	assert_non_null(nr_of);
	memset(nr_of, 0xff, ENTRIES * sizeof(*nr_of));
	while (asked < 20 * ENTRIES) {
		uint64_t numbers[ENTRY_POOL_WAIT_MAX];
		uint32_t nrs[ENTRY_POOL_WAIT_MAX];
		uint32_t nr = random_next(seed) % (ENTRY_POOL_WAIT_MAX + 1);

		for (uint32_t i = 0; i < nr; i++)
			numbers[i] = random_next(seed) % ENTRIES;
		/*
		 * Make the last tree entry equal to the first, so that one call
		 * puts the same entry into the pool twice.
		 */
		if (nr > 1)
			numbers[nr - 1] = numbers[0];
		add_some(pool, numbers, nr, nrs);
		for (uint32_t i = 0; i < nr; i++) {
			uint32_t *known = &nr_of[numbers[i]];

			if (*known == ENTRY_POOL_NONE)
				*known = nrs[i];
			else
				again += *known != nrs[i];
			assert_true(entry_pool_equal(pool, nrs[i], *known));
		}
		asked += nr;
	}
	for (int i = 0; i < 1000; i++) {
		uint64_t a = random_next(seed) % ENTRIES;
		uint64_t b = random_next(seed) % ENTRIES;

		assert_int_equal(entry_pool_equal(pool, nr_of[a], nr_of[b]),
				 a == b);
	}
	/* Only few entries have got a second number. */
	assert_true(again < 20 * ENTRIES / 100);
	assert_true(pool->nr < ENTRIES + ENTRIES / 100);
	check_places(pool);
	free(nr_of);
}

static void random_entries(void **state)
{
	uint64_t seed = random_seed();
	struct entry_pool pool;

	assert_int_equal(entry_pool_init(&pool), 0);
	fill(&pool, &seed);
	assert_true(entry_pool_size(&pool) > 8 * pool.used);
	entry_pool_reset(&pool);
	assert_int_equal(pool.nr, 0);
	fill(&pool, &seed);
	entry_pool_release(&pool);
}

/*
 * If the pool's hash table is full, an entry that is in the pool already may
 * get a second number. New entries still get numbers of their own.
 */
static void full_hash_table(void **state)
{
	struct entry_pool pool;
	uint32_t first, second;

	assert_int_equal(entry_pool_init(&pool), 0);
	first = add(&pool, 1);
	for (size_t i = 0; i < pool.slot_nr; i++)
		pool.slots[i] = (struct pool_slot){(uint32_t)i, first + 1};
	second = add(&pool, 2);
	assert_int_not_equal(first, second);
	assert_int_equal(add(&pool, 2), second);
	entry_pool_release(&pool);
}

/*
 * Tree entries that differ in one bit get different numbers. Setting the
 * obj_pos of one entry does not change those of the others.
 */
static void entries_that_differ_in_one_bit(void **state)
{
	struct entry_pool pool;
	struct sample s;
	uint32_t first, nr;

	make(&s, 71 * 1234 + 5);
	assert_int_equal(entry_pool_init(&pool), 0);
	first = add(&pool, 71 * 1234 + 5);
	assert_int_equal(entry_pool_at(&pool, first)->obj_pos, ENTRY_POOL_NONE);
	entry_pool_at(&pool, first)->obj_pos = 7;
	for (size_t bit = 0; bit < 8 * s.len; bit++) {
		s.raw[bit / 8] ^= (char)(1 << bit % 8);
		assert_int_equal(entry_pool_put(&pool, (uint8_t *)s.raw, s.len),
				 0);
		entry_pool_settle(&pool, &nr);
		assert_int_not_equal(nr, first);
		assert_false(entry_pool_equal(&pool, nr, first));
		s.raw[bit / 8] ^= (char)(1 << bit % 8);
	}
	assert_int_equal(pool.nr, 8 * s.len + 1);
	assert_int_equal(add(&pool, 71 * 1234 + 5), first);
	assert_int_equal(entry_pool_at(&pool, first)->obj_pos, 7);
	entry_pool_release(&pool);
}

static void parsed_entry(void **state)
{
	static const uint8_t raw[] = "40000 dir\0abcdefghijklmnopqrst";
	struct entry_pool pool;
	struct tree_entry entry;
	uint32_t nr;

	assert_int_equal(entry_pool_init(&pool), 0);
	assert_int_equal(entry_pool_put(&pool, raw, sizeof(raw) - 1), 0);
	entry_pool_settle(&pool, &nr);
	entry_pool_get(&entry, &pool, nr, HASH_SHA1);
	assert_string_equal(entry.name, "dir");
	assert_int_equal(entry.mode, 040000);
	assert_memory_equal(entry.oid, "abcdefghijklmnopqrst", 20);
	entry_pool_release(&pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_entries),
		cmocka_unit_test(entries_that_differ_in_one_bit),
		cmocka_unit_test(full_hash_table),
		cmocka_unit_test(parsed_entry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
