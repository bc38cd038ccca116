/* SPDX-License-Identifier: MIT */
/* walk/entry-pool.c: equal numbers are equal entries, nearly always both ways.
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
#include "walk/entry-pool.h"

#define ENTRIES 5000

struct sample {
	char raw[40];
	size_t len;
};

/* "100644 <name>\0<20 bytes>": names and ids repeat in many combinations. */
static void make(struct sample *s, uint64_t number)
{
	uint64_t id = number % 71;
	int n = snprintf(s->raw, sizeof(s->raw), "100644 n%u",
			 (unsigned)(number / 71));

	memset(s->raw + n + 1, 0, 20);
	memcpy(s->raw + n + 1 + id % 12, &id, sizeof(id));
	s->len = (size_t)n + 21;
}

static uint32_t add(struct entry_pool *pool, uint32_t prev, uint64_t number)
{
	struct sample s;
	uint32_t nr;

	make(&s, number);
	assert_int_equal(
		entry_pool_add(pool, prev, (uint8_t *)s.raw, s.len, &nr), 0);
	assert_int_equal(entry_pool_len(pool, nr), s.len);
	assert_memory_equal(entry_pool_raw(pool, nr), s.raw, s.len);
	return nr;
}

static void fill(struct entry_pool *pool, uint64_t *seed)
{
	uint32_t *nr_of = mem_alloc(ENTRIES, sizeof(*nr_of));
	uint32_t again = 0, prev = ENTRY_POOL_NONE;

	assert_non_null(nr_of);
	memset(nr_of, 0xff, ENTRIES * sizeof(*nr_of));
	for (int i = 0; i < 20 * ENTRIES; i++) {
		uint64_t number = random_next(seed) % ENTRIES;
		uint32_t nr = add(pool, i % 3 ? prev : ENTRY_POOL_NONE, number);

		if (nr_of[number] == ENTRY_POOL_NONE)
			nr_of[number] = nr;
		else
			again += nr_of[number] != nr;
		assert_true(entry_pool_equal(pool, nr, nr_of[number]));
		prev = nr;
	}
	for (int i = 0; i < 1000; i++) {
		uint64_t a = random_next(seed) % ENTRIES;
		uint64_t b = random_next(seed) % ENTRIES;

		assert_int_equal(entry_pool_equal(pool, nr_of[a], nr_of[b]),
				 a == b);
	}
	/* Second numbers are rare. */
	assert_true(again < 20 * ENTRIES / 100);
	assert_true(pool->nr < ENTRIES + ENTRIES / 100);
	free(nr_of);
}

static void random_entries(void **state)
{
	uint64_t seed = random_seed();
	struct entry_pool pool;

	assert_int_equal(entry_pool_init(&pool), 0);
	fill(&pool, &seed);
	assert_true(entry_pool_size(&pool) > pool.len);
	entry_pool_reset(&pool);
	assert_int_equal(pool.nr, 0);
	fill(&pool, &seed);
	entry_pool_release(&pool);
}

/* What followed an entry last time is found without the table. */
static void successors(void **state)
{
	struct entry_pool pool;
	uint32_t a, b, c;

	assert_int_equal(entry_pool_init(&pool), 0);
	a = add(&pool, ENTRY_POOL_NONE, 1);
	b = add(&pool, a, 2);
	assert_int_equal(pool.entries[a].next, b);
	assert_int_equal(pool.entries[b].next, ENTRY_POOL_NONE);
	assert_int_equal(pool.entries[b].obj_pos, ENTRY_POOL_NONE);
	memset(pool.slots, 0, pool.slot_nr * sizeof(*pool.slots));
	assert_int_equal(add(&pool, a, 2), b);
	c = add(&pool, a, 3);
	assert_int_equal(pool.entries[a].next, c);
	assert_int_not_equal(add(&pool, a, 2), c);
	entry_pool_release(&pool);
}

/* A table that is full of others: entries get more numbers, nothing breaks. */
static void crowded_table(void **state)
{
	struct entry_pool pool;
	uint32_t first, second;

	assert_int_equal(entry_pool_init(&pool), 0);
	first = add(&pool, ENTRY_POOL_NONE, 1);
	for (size_t i = 0; i < pool.slot_nr; i++)
		pool.slots[i] = (struct pool_slot){(uint32_t)i, first + 1};
	second = add(&pool, ENTRY_POOL_NONE, 2);
	assert_int_not_equal(first, second);
	assert_int_equal(add(&pool, ENTRY_POOL_NONE, 2), second);
	entry_pool_release(&pool);
}

static void taken_apart(void **state)
{
	static const uint8_t raw[] = "40000 dir\0abcdefghijklmnopqrst";
	struct entry_pool pool;
	struct tree_entry entry;
	uint32_t nr;

	assert_int_equal(entry_pool_init(&pool), 0);
	assert_int_equal(entry_pool_add(&pool, ENTRY_POOL_NONE, raw,
					sizeof(raw) - 1, &nr),
			 0);
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
		cmocka_unit_test(successors),
		cmocka_unit_test(crowded_table),
		cmocka_unit_test(taken_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
