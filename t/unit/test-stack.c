/* SPDX-License-Identifier: MIT */
/*
 * Tests of reftable/stack.c: the newest table with a record of a ref gives the
 * value of the ref, and invalid lists of tables are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "reftable/stack.h"
#include "t/unit/reftables.h"

/* Makes a table with one ref, whose update index is `index`. */
static void make_table(const struct tmprepo *t, const char *file,
		       const char *name, uint64_t index,
		       enum reftable_value value)
{
	struct reftable_writer_options options = {
		.algo = HASH_SHA1, .min_index = index, .max_index = index};
	struct twin_ref ref = {NULL,
			       {.name = name,
				.name_len = strlen(name),
				.update_index = index,
				.value = value}};
	struct twin twin = {&ref, 1};

	ref.ref.oid.bytes[0] = (uint8_t)index;
	twin_write(&twin, 0, &options, t->dir, file);
}

/* Returns the first byte of a ref's id; 0: no such ref. */
static int find(const struct reftable_stack *stack, const char *name)
{
	struct reftable_iter it;
	struct reftable_ref ref;
	int ret;

	reftable_iter_init(&it);
	ret = reftable_stack_find(stack, &it, name, strlen(name), &ref, NULL);
	if (ret > 0)
		ret = ref.oid.bytes[0];
	reftable_iter_release(&it);
	return ret;
}

static void test_find(void **state)
{
	struct reftable_stack stack;
	struct tmprepo t;

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	assert_int_equal(reftable_stack_open(&stack, t.dir, HASH_SHA1, NULL),
			 0);
	assert_int_equal(stack.nr, 0);
	assert_true(reftable_stack_max_index(&stack) == 0);
	assert_int_equal(find(&stack, "refs/a"), 0);
	reftable_stack_release(&stack);

	make_table(&t, "1", "refs/a", 1, REFTABLE_OID);
	make_table(&t, "2", "refs/b", 2, REFTABLE_OID);
	make_table(&t, "3", "refs/a", 3, REFTABLE_OID);
	make_table(&t, "4", "refs/b", 4, REFTABLE_DELETED);
	tmprepo_write(&t, "tables.list", "1\n2\n3\n4");
	assert_int_equal(reftable_stack_open(&stack, t.dir, HASH_SHA1, NULL),
			 0);
	assert_int_equal(stack.nr, 4);
	assert_true(reftable_stack_max_index(&stack) == 4);
	/*
	 * The tables of an open stack can still be read after their files were
	 * removed.
	 */
	tmprepo_remove(&t, "3");
	assert_int_equal(find(&stack, "refs/a"), 3);
	assert_int_equal(find(&stack, "refs/b"), 0);
	assert_int_equal(find(&stack, "refs/"), 0);
	assert_int_equal(find(&stack, "refs/c"), 0);
	reftable_stack_release(&stack);
	tmprepo_release(&t);
}

static void test_bad_lists(void **state)
{
	static const char *const bad[] = {"1\nmissing\n", "../1\n", ".\n",
					  "1\nempty\n"};
	struct tmprepo t;

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	make_table(&t, "1", "refs/a", 1, REFTABLE_OID);
	tmprepo_write(&t, "empty", "");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error err = ERROR_INIT;
		struct reftable_stack stack;

		tmprepo_write(&t, "tables.list", bad[i]);
		assert_int_equal(
			reftable_stack_open(&stack, t.dir, HASH_SHA1, &err),
			ERR_CORRUPT);
		assert_true(err.msg[0]);
		assert_int_equal(stack.nr, 0);
		assert_null(stack.tables);
	}
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_bad_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
