/* SPDX-License-Identifier: MIT */
/*
 * Tests of packing/write-order.c, the order of objects in a new pack: sorted by
 * type, and delta bases before deltas.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "packing/write.h"
#include "t/unit/random.h"

static const enum object_type types[] = {OBJ_COMMIT, OBJ_TAG, OBJ_TREE,
					 OBJ_BLOB};

static unsigned rank(uint8_t type)
{
	unsigned i = 0;

	while (types[i] != type)
		i++;
	return i;
}

/*
 * Make list entries of random types. A delta and its base have the same type.
 * No delta chain is a cycle.
 */
static void fill(struct packing_items *list, uint32_t nr, uint64_t *seed)
{
	packing_items_init(list, NULL);
	for (uint32_t i = 0; i < nr; i++)
		assert_int_equal(packing_items_append(
					 list, i, types[random_next(seed) % 4],
					 0, random_next(seed) % 8 == 0),
				 0);
	for (uint32_t i = 0; i < nr; i++) {
		/*
		 * The test gives entry i the rank i * 7919 % nr, only to
		 * prevent cycles. The base of a delta always has a lower rank
		 * than the delta. So no delta chain is a cycle.
		 */
		uint32_t base = (uint32_t)(random_next(seed) % nr);

		if (list->items[i].is_external ||
		    list->items[i].type != list->items[base].type ||
		    base * UINT64_C(7919) % nr >= i * UINT64_C(7919) % nr)
			continue;
		list->items[i].how = PACKING_COPY_DELTA;
		list->items[i].base = base;
	}
}

/* Makes list entries of random types, without deltas. */
static void fill_alone(struct packing_items *list, uint32_t nr, uint64_t *seed)
{
	fill(list, nr, seed);
	for (size_t i = 0; i < list->nr; i++) {
		list->items[i].base = PACKING_NO_ITEM;
		list->items[i].is_external = false;
	}
}

static void check(const struct packing_items *list)
{
	uint32_t *place = calloc(list->nr + 1, sizeof(*place));
	size_t nr, expected = 0;
	uint32_t *order = write_order(list, &nr);

	assert_true(place && order);
	for (uint32_t i = 0; i < nr; i++) {
		assert_true(order[i] < list->nr);
		assert_int_equal(place[order[i]], 0);
		place[order[i]] = i + 1;
		if (i)
			assert_true(rank(list->items[order[i - 1]].type) <=
				    rank(list->items[order[i]].type));
	}
	for (uint32_t i = 0; i < list->nr; i++) {
		const struct packing_item *item = &list->items[i];

		expected += !item->is_external;
		assert_int_equal(place[i] != 0, !item->is_external);
		if (place[i] && item->base != PACKING_NO_ITEM)
			assert_true(place[item->base] < place[i]);
	}
	assert_int_equal(nr, expected);
	free(order);
	free(place);
}

static void random_lists(void **state)
{
	uint64_t seed = random_seed();

	for (uint32_t nr = 0; nr < 300; nr += 7) {
		struct packing_items list;

		fill(&list, nr, &seed);
		check(&list);
		packing_items_release(&list);
	}
}

/* Without deltas, objects of one type stay in the order of the list. */
static void order_is_kept(void **state)
{
	uint64_t seed = random_seed();
	struct packing_items list;
	uint32_t *order;
	size_t nr;

	fill_alone(&list, 500, &seed);
	order = write_order(&list, &nr);
	assert_int_equal(nr, 500);
	for (size_t i = 1; i < nr; i++)
		assert_true(rank(list.items[order[i - 1]].type) <
				    rank(list.items[order[i]].type) ||
			    order[i - 1] < order[i]);
	free(order);
	packing_items_release(&list);
}

/*
 * All entries form one delta chain. The deepest delta is the first entry of the
 * list, and must be written last.
 */
static void long_chain(void **state)
{
	enum { NR = 100000 };
	struct packing_items list;
	uint32_t *order;
	size_t nr;

	packing_items_init(&list, NULL);
	for (uint32_t i = 0; i < NR; i++) {
		assert_int_equal(
			packing_items_append(&list, i, OBJ_BLOB, 0, false), 0);
		if (i + 1 < NR)
			list.items[i].base = i + 1;
	}
	order = write_order(&list, &nr);
	assert_int_equal(nr, NR);
	for (uint32_t i = 0; i < NR; i++)
		assert_int_equal(order[i], NR - 1 - i);
	free(order);
	packing_items_release(&list);
}

/*
 * The tip island has the objects that a clone with depth 1 needs. Within each
 * type, objects of the tip island come first.
 */
static void tip_first(void **state)
{
	uint64_t seed = random_seed();
	struct islands islands = ISLANDS_INIT;
	struct packing_items list;
	uint32_t *order;
	size_t nr;

	fill_alone(&list, 500, &seed);
	assert_int_equal(bitset_init(&islands.tip, list.nr), 0);
	for (size_t i = 0; i < list.nr; i++) {
		if (random_next(&seed) % 4 == 0)
			bitset_set(&islands.tip, i);
	}
	list.islands = &islands;
	check(&list);
	order = write_order(&list, &nr);
	assert_int_equal(nr, 500);
	for (size_t i = 1; i < nr; i++) {
		bool before = bitset_test(&islands.tip, order[i - 1]);
		bool tip = bitset_test(&islands.tip, order[i]);

		if (rank(list.items[order[i - 1]].type) <
		    rank(list.items[order[i]].type))
			continue;
		assert_true(before >= tip);
		assert_true(before > tip || order[i - 1] < order[i]);
	}
	free(order);
	islands_release(&islands);
	packing_items_release(&list);
}

/*
 * Returns true if a clone of the given kind needs the object `obj_pos`.
 *
 * - Kind 0: a clone with depth 1 of the refs that the setting repack.tipIsland
 *   names.
 * - Kind 1: a clone with depth 1 of HEAD.
 * - Kind 2: a clone of HEAD with its whole history.
 * - Kind 3: a clone of all branches with their whole history.
 */
static bool is_asked_for(const struct islands *islands, uint32_t obj_pos,
			 int kind)
{
	enum islands_layer layer = islands_layer(islands, obj_pos);
	bool tip = bitset_test(&islands->tip, obj_pos);

	return kind == 0   ? tip
	       : kind == 1 ? tip && layer == ISLANDS_LAYER_HEAD
	       : kind == 2 ? layer == ISLANDS_LAYER_HEAD
			   : layer <= ISLANDS_LAYER_BRANCHES;
}

/*
 * For each kind of clone (see is_asked_for()), the needed objects of one type
 * must be adjacent in the pack. So they can be sent as one range.
 */
static void one_run_each(void **state)
{
	uint64_t seed = random_seed();
	struct islands islands = ISLANDS_INIT;
	struct packing_items list;
	uint32_t *order;
	size_t nr;

	fill_alone(&list, 500, &seed);
	islands.layers = calloc(list.nr, 1);
	islands.layer_end = (uint32_t)list.nr;
	assert_non_null(islands.layers);
	assert_int_equal(bitset_init(&islands.tip, list.nr), 0);
	for (size_t i = 0; i < list.nr; i++) {
		islands.layers[i] = random_next(&seed) % 3;
		if (random_next(&seed) % 4 == 0 &&
		    islands.layers[i] != ISLANDS_LAYER_REST)
			bitset_set(&islands.tip, i);
	}
	list.islands = &islands;
	check(&list);
	order = write_order(&list, &nr);
	for (int kind = 0; kind < 4; kind++) {
		unsigned runs = 0;

		for (size_t i = 0; i < nr; i++) {
			bool asked = is_asked_for(&islands, order[i], kind);
			bool goes_on = i &&
				       list.items[order[i]].type ==
					       list.items[order[i - 1]].type;

			runs += asked &&
				!(goes_on &&
				  is_asked_for(&islands, order[i - 1], kind));
		}
		assert_int_equal(runs, 4);
	}
	free(order);
	islands_release(&islands);
	packing_items_release(&list);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_lists), cmocka_unit_test(order_is_kept),
		cmocka_unit_test(long_chain),   cmocka_unit_test(tip_first),
		cmocka_unit_test(one_run_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
