/* SPDX-License-Identifier: MIT */
/*
 * Tests of trees/item-kinds.c, which checks the types that tree entries give to
 * objects. They prove that an object that is named both as a tree and as a blob
 * is an error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/walkrepo.h"
#include "trees/item-kinds.h"

static void named_both_ways(void **state)
{
	uint64_t seed = random_seed();
	struct item_kinds kinds = ITEM_KINDS_INIT;
	struct objspace *space;
	struct error err = ERROR_INIT;
	struct walkrepo f;
	uint32_t tree, blob = 0;

	walkrepo_init(&f, HASH_SHA1, &seed, 20, 5);
	space = &f.w.space;
	while (f.h.r.objects[blob].type != OBJ_BLOB)
		blob++;
	tree = walkrepo_pos(&f, randhist_tree(&f.h, f.h.r.commits[0]));
	blob = walkrepo_pos(&f, blob);
	assert_int_equal(item_kinds_add(&kinds, space, tree, OBJ_TREE, NULL),
			 0);
	assert_int_equal(item_kinds_add(&kinds, space, tree, OBJ_TREE, NULL),
			 0);
	assert_int_equal(item_kinds_add(&kinds, space, blob, OBJ_BLOB, NULL),
			 0);
	assert_int_equal(item_kinds_add(&kinds, space, blob, OBJ_TAG, NULL), 0);
	assert_int_equal(item_kinds_check(&kinds, space, NULL), 0);
	item_kinds_note(&kinds, blob, OBJ_TREE);
	assert_int_equal(item_kinds_check(&kinds, space, &err), ERR_CORRUPT);
	assert_non_null(strstr(err.msg, " is a blob, not a tree"));
	assert_int_equal(item_kinds_add(&kinds, space, tree, OBJ_BLOB, &err),
			 ERR_CORRUPT);
	assert_non_null(strstr(err.msg, " is a tree, not a blob"));
	item_kinds_release(&kinds);
	walkrepo_release(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(named_both_ways),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
