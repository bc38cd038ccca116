/* SPDX-License-Identifier: MIT */
/*
 * Tests of deltas/items.c, the list of objects for a new pack. They prove that
 * the list grows, that it frees the deltas of its items, and that a new item
 * has no delta: as long as nothing else is planned, its object is compressed
 * whole.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "deltas/items.h"

static void reserve(void **state)
{
	struct packing_items list;

	packing_items_init(&list, NULL);
	assert_int_equal(packing_items_reserve(&list, 10), 0);
	assert_int_equal(list.alloc, 10);
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(
			packing_items_append(&list, i, OBJ_BLOB, 0, false), 0);
	assert_int_equal(list.alloc, 10);
	assert_int_equal(packing_items_reserve(&list, 5), 0);
	assert_int_equal(list.alloc, 15);
	assert_int_equal(list.items[9].obj_pos, 9);
	assert_int_equal(packing_items_reserve(&list, 0), 0);
	assert_int_equal(list.alloc, 15);
	assert_int_equal(packing_items_reserve(&list, SIZE_MAX), ERR_NOMEM);
	assert_int_equal(packing_items_reserve(&list, SIZE_MAX / 64),
			 ERR_NOMEM);
	assert_int_equal(list.nr, 10);
	packing_items_release(&list);
}

static void append(void **state)
{
	struct objspace space;
	struct packing_items list;

	packing_items_init(&list, &space);
	assert_int_equal(list.nr, 0);
	assert_ptr_equal(list.space, &space);
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(
			packing_items_append(&list, i * 3,
					     i % 2 ? OBJ_TREE : OBJ_BLOB, i * 7,
					     i % 5 == 0),
			0);
	assert_int_equal(list.nr, 1000);
	for (uint32_t i = 0; i < 1000; i++) {
		const struct packing_item *item = &list.items[i];

		assert_int_equal(item->obj_pos, i * 3);
		assert_int_equal(item->type, i % 2 ? OBJ_TREE : OBJ_BLOB);
		assert_int_equal(item->name_hash, i * 7);
		assert_int_equal(item->is_external, i % 5 == 0);
		/*
		 * If nothing is planned for a new list entry, the object is
		 * compressed whole.
		 */
		assert_int_equal(item->how, PACKING_WHOLE);
		assert_int_equal(item->base, PACKING_NO_ITEM);
		assert_int_equal(item->pack_nr, PACKING_NO_ITEM);
		assert_int_equal(item->size, 0);
		assert_null(item->delta);
	}
	packing_items_release(&list);
	assert_int_equal(list.nr, 0);
	assert_null(list.items);
}

/* Releasing the list also frees the deltas that its entries own. */
static void deltas_are_owned(void **state)
{
	struct packing_items list;

	packing_items_init(&list, NULL);
	for (uint32_t i = 0; i < 10; i++) {
		assert_int_equal(
			packing_items_append(&list, i, OBJ_BLOB, 0, false), 0);
		list.items[i].delta = malloc(10);
	}
	packing_items_release(&list);
	packing_items_release(&list);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(append),
		cmocka_unit_test(deltas_are_owned),
		cmocka_unit_test(reserve),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
