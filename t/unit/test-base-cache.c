/* SPDX-License-Identifier: MIT */
/*
 * Tests of pack/base-cache.c, the cache of delta bases. They prove that pinned
 * bases stay, that the least recently used base is evicted first, and that the
 * size limit holds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "pack/base-cache.h"
#include "t/unit/random.h"

/*
 * The cache only compares the addresses of packs and never reads packs, so no
 * real packs are needed.
 */
static const char pack_a, pack_b;
#define PACK_A ((const struct pack *)&pack_a)
#define PACK_B ((const struct pack *)&pack_b)

enum { NODE_LEN = 1000 };

static size_t node_bytes(void)
{
	return sizeof(struct base_cache_node) + NODE_LEN;
}

/* Adds a delta base to the cache and unpins it, so that it can be evicted. */
static void add(struct base_cache *c, const struct pack *pack, uint64_t off)
{
	struct base_cache_node *node = base_cache_alloc(NODE_LEN);

	assert_non_null(node);
	memset(node->data, (int)off, NODE_LEN);
	assert_int_equal(node->data[NODE_LEN], 0);
	base_cache_add(c, node, pack, off);
	base_cache_unpin(c, node);
}

static bool has(struct base_cache *c, const struct pack *pack, uint64_t off)
{
	struct base_cache_node *node = base_cache_get(c, pack, off);

	if (!node)
		return false;
	assert_int_equal(node->data[NODE_LEN - 1], (uint8_t)off);
	base_cache_unpin(c, node);
	return true;
}

static void test_oldest_leaves(void **state)
{
	struct base_cache c;

	assert_int_equal(base_cache_init(&c, 10 * node_bytes()), 0);
	for (uint64_t off = 1; off <= 10; off++)
		add(&c, PACK_A, off);
	assert_int_equal(c.nr, 10);
	/*
	 * This read makes the base (PACK_A, offset 1) the most recently used
	 * one.
	 */
	assert_true(has(&c, PACK_A, 1));
	assert_false(has(&c, PACK_B, 1));
	add(&c, PACK_B, 1);
	assert_int_equal(c.nr, 10);
	assert_true(has(&c, PACK_A, 1));
	assert_true(has(&c, PACK_B, 1));
	assert_false(has(&c, PACK_A, 2));
	assert_true(has(&c, PACK_A, 3));
	base_cache_release(&c);
}

static void test_pinned_stay(void **state)
{
	struct base_cache_node *one, *again;
	struct base_cache c;

	assert_int_equal(base_cache_init(&c, 4 * node_bytes()), 0);
	add(&c, PACK_A, 1);
	one = base_cache_get(&c, PACK_A, 1);
	again = base_cache_get(&c, PACK_A, 1);
	assert_ptr_equal(one, again);
	for (uint64_t off = 2; off < 20; off++)
		add(&c, PACK_A, off);
	assert_int_equal(c.bytes, 4 * node_bytes());
	assert_int_equal(c.nr, 5);
	base_cache_unpin(&c, again);
	assert_int_equal(c.nr, 5);
	assert_int_equal(one->data[0], 1);
	base_cache_unpin(&c, one);
	assert_int_equal(c.nr, 4);
	assert_true(has(&c, PACK_A, 1));
	base_cache_release(&c);
}

static void test_too_large(void **state)
{
	struct base_cache_node *node = base_cache_alloc(NODE_LEN);
	struct base_cache c;

	assert_int_equal(base_cache_init(&c, node_bytes() - 1), 0);
	base_cache_add(&c, node, PACK_A, 1);
	assert_int_equal(c.nr, 0);
	base_cache_unpin(&c, node);
	assert_null(base_cache_get(&c, PACK_A, 1));
	base_cache_release(&c);
	assert_int_equal(base_cache_init(&c, node_bytes()), 0);
	add(&c, PACK_A, 1);
	assert_true(has(&c, PACK_A, 1));
	base_cache_release(&c);
	assert_null(base_cache_alloc(SIZE_MAX - 8));
}

static void test_forget(void **state)
{
	struct base_cache_node *used;
	struct base_cache c;

	assert_int_equal(base_cache_init(&c, 100 * node_bytes()), 0);
	for (uint64_t off = 0; off < 30; off++)
		add(&c, off % 3 ? PACK_A : PACK_B, off);
	used = base_cache_get(&c, PACK_B, 0);
	base_cache_forget(&c, PACK_B);
	assert_int_equal(c.nr, 20);
	for (uint64_t off = 1; off < 30; off++)
		assert_int_equal(has(&c, off % 3 ? PACK_A : PACK_B, off),
				 off % 3 != 0);
	assert_int_equal(used->data[0], 0);
	base_cache_unpin(&c, used);
	base_cache_forget(&c, PACK_A);
	assert_int_equal(c.nr, 0);
	assert_int_equal(c.bytes, 0);
	assert_null(c.newest);
	base_cache_release(&c);
}

/*
 * Random operations on the cache, compared with an array that records the last
 * use of each cached base.
 */
static void test_random(void **state)
{
	enum { OFFSETS = 2000, ROOM = 700 };
	uint32_t last_use[OFFSETS] = {0};
	uint64_t seed = random_seed();
	struct base_cache c;

	assert_int_equal(base_cache_init(&c, ROOM * node_bytes()), 0);
	for (uint32_t now = 1; now <= 20000; now++) {
		uint64_t off = random_next(&seed) % OFFSETS;
		uint32_t newer = 0;
		bool want;

		for (size_t i = 0; i < OFFSETS && now % 16 == 0; i++)
			newer += last_use[i] > last_use[off];
		want = last_use[off] && newer < ROOM;
		if (now % 16 == 0)
			assert_int_equal(has(&c, PACK_A, off), want);
		if (!has(&c, PACK_A, off))
			add(&c, PACK_A, off);
		last_use[off] = now;
	}
	assert_int_equal(c.nr, ROOM);
	base_cache_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_oldest_leaves),
		cmocka_unit_test(test_pinned_stay),
		cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_forget),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
