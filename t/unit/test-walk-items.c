/* SPDX-License-Identifier: MIT */
/* Tests of trees/walk-items.c: objects appended to lists, and failures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/nomem.h"
#include "trees/walk-items.h"

static void lists_of_items(void **state)
{
	struct walk_items list = {NULL, 0, 0};

	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(walk_items_append(&list, i, OBJ_BLOB, 2 * i),
				 0);
	assert_int_equal(list.nr, 100);
	for (uint32_t i = 0; i < 100; i++) {
		assert_int_equal(list.items[i].obj_pos, i);
		assert_int_equal(list.items[i].name_hash, 2 * i);
		assert_int_equal(list.items[i].group, 0);
		assert_int_equal(list.items[i].type, OBJ_BLOB);
	}
	free(list.items);
}

/* walk_items_add() copies all fields. */
static void copied_item(void **state)
{
	const struct walk_item item = {
		.obj_pos = 5,
		.name_hash = 6,
		.group = 7,
		.type = OBJ_TREE,
	};
	struct walk_items list = {NULL, 0, 0};

	assert_int_equal(walk_items_append(&list, 1, OBJ_TAG, 0), 0);
	assert_int_equal(walk_items_add(&list, &item), 0);
	assert_int_equal(list.nr, 2);
	assert_int_equal(list.items[0].obj_pos, 1);
	assert_int_equal(list.items[1].obj_pos, item.obj_pos);
	assert_int_equal(list.items[1].name_hash, item.name_hash);
	assert_int_equal(list.items[1].group, item.group);
	assert_int_equal(list.items[1].type, item.type);
	free(list.items);
}

static void reset_list(void *ctx)
{
	struct walk_items *list = ctx;

	free(list->items);
	*list = (struct walk_items){NULL, 0, 0};
}

/* Appends the numbers 0 to 99, and checks after a failure that none is lost. */
static int append_numbers(void *ctx, struct error *err)
{
	struct walk_items *list = ctx;

	for (uint32_t i = 0; i < 100; i++) {
		if (walk_items_append(list, i, OBJ_TREE, 0) < 0) {
			assert_int_equal(list->nr, i);
			for (uint32_t k = 0; k < i; k++)
				assert_int_equal(list->items[k].obj_pos, k);
			return error_nomem(err);
		}
	}
	return 0;
}

static void out_of_memory(void **state)
{
	struct walk_items list = {NULL, 0, 0};

	nomem_each(reset_list, append_numbers, NULL, &list);
	reset_list(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_of_items),
		cmocka_unit_test(copied_item),
		cmocka_unit_test(out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
