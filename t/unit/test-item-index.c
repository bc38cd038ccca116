/* SPDX-License-Identifier: MIT */
/*
 * Tests of deltas/item-index.c, which finds the list entry of an object. Its
 * two forms, a table for dense lists and a sorted array, must give the same
 * results.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "deltas/item-index.h"
#include "t/unit/itemlist.h"

/*
 * Look up objects in the index of the first `nr` list entries. Compare the
 * results with a search through the list.
 */
static void check(struct itemlist *l, size_t nr, bool dense)
{
	size_t all = l->list.nr;
	struct item_index index;
	uint32_t end = objspace_end(&l->space);

	l->list.nr = nr;
	assert_int_equal(item_index_init(&index, &l->list), 0);
	assert_int_equal(index.dense != NULL, dense);
	for (uint32_t obj_pos = 0; obj_pos < end + 3; obj_pos++) {
		uint32_t want = PACKING_NO_ITEM;

		for (size_t i = 0; i < nr; i++)
			if (l->list.items[i].obj_pos == obj_pos)
				want = (uint32_t)i;
		assert_int_equal(item_index_get(&index, obj_pos), want);
	}
	item_index_release(&index);
	l->list.nr = all;
}

static void many_and_few(void **state)
{
	uint64_t seed = random_seed();
	struct itemlist l;

	itemlist_init(&l, &seed);
	itemlist_fill(&l, 5, false);
	assert_true(objspace_end(&l.space) >= 128);
	check(&l, l.list.nr, true);
	check(&l, 1, false);
	check(&l, 0, false);
	itemlist_release(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_and_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
