/* SPDX-License-Identifier: MIT */
/*
 * Tests of trees/tree-merge.c, which reads two trees in parallel. Random trees
 * are made from two arrays. The differences that the merge finds are compared
 * with those of the arrays.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/error.h"
#include "t/unit/random.h"
#include "trees/tree-merge.h"

#define NAMES 26

/* What a tree has at one name. The digit is the id of the object. */
enum state { NOTHING, FILE_1, FILE_2, DIR_1, DIR_2, STATES };

static bool is_dir(enum state s)
{
	return s == DIR_1 || s == DIR_2;
}

static void append_entry(struct buf *tree, char name, enum state s)
{
	char id[20];

	if (s == NOTHING)
		return;
	memset(id, s, sizeof(id));
	buf_printf(tree, "%s %c", is_dir(s) ? "40000" : "100644", name);
	buf_append(tree, "", 1);
	buf_append(tree, id, sizeof(id));
}

static struct cursor bytes_of(const struct buf *tree)
{
	return cursor_make(tree->data, tree->len);
}

static void check_entry(const struct tree_entry *e, char name, enum state s)
{
	if (s == NOTHING) {
		assert_null(e);
		return;
	}
	assert_non_null(e);
	assert_int_equal(e->name_len, 1);
	assert_int_equal(e->name[0], name);
	assert_int_equal(e->oid[0], s);
	assert_int_equal(tree_entry_is_dir(e), is_dir(s));
}

static void expect_next(struct tree_merge *m, char name, enum state a,
			enum state b)
{
	const struct tree_entry *found_a, *found_b;

	assert_int_equal(tree_merge_next(m, &found_a, &found_b), 1);
	check_entry(found_a, name, a);
	check_entry(found_b, name, b);
}

static void expect_name(struct tree_merge *m, char name, enum state a,
			enum state b)
{
	if (a == b)
		return;
	if (a == NOTHING || b == NOTHING || is_dir(a) == is_dir(b)) {
		expect_next(m, name, a, b);
		return;
	}
	/* A directory sorts after a file of the same name. */
	expect_next(m, name, is_dir(a) ? NOTHING : a, is_dir(b) ? NOTHING : b);
	expect_next(m, name, is_dir(a) ? a : NOTHING, is_dir(b) ? b : NOTHING);
}

static void test_random(void **state)
{
	uint64_t seed = random_seed();

	for (int i = 0; i < 1000; i++) {
		enum state states[2][NAMES];
		struct buf trees[2] = {BUF_INIT, BUF_INIT};
		const struct tree_entry *a, *b;
		struct tree_merge m;

		for (int n = 0; n < NAMES; n++) {
			for (int k = 0; k < 2; k++)
				states[k][n] = random_next(&seed) % STATES;
			if (random_next(&seed) % 2)
				states[1][n] = states[0][n];
			for (int k = 0; k < 2; k++)
				append_entry(&trees[k], (char)('a' + n),
					     states[k][n]);
		}
		m = tree_merge_make(bytes_of(&trees[0]), bytes_of(&trees[1]),
				    HASH_SHA1);
		for (int n = 0; n < NAMES; n++)
			expect_name(&m, (char)('a' + n), states[0][n],
				    states[1][n]);
		assert_int_equal(tree_merge_next(&m, &a, &b), 0);
		assert_int_equal(tree_merge_next(&m, &a, &b), 0);
		buf_release(&trees[0]);
		buf_release(&trees[1]);
	}
}

static void test_empty(void **state)
{
	struct cursor none = {NULL, NULL};
	struct tree_merge m = tree_merge_make(none, none, HASH_SHA1);
	struct buf tree = BUF_INIT;
	const struct tree_entry *a, *b;

	assert_int_equal(tree_merge_next(&m, &a, &b), 0);
	append_entry(&tree, 'x', FILE_1);
	m = tree_merge_make(none, bytes_of(&tree), HASH_SHA1);
	expect_next(&m, 'x', NOTHING, FILE_1);
	assert_int_equal(tree_merge_next(&m, &a, &b), 0);
	buf_release(&tree);
}

static void test_malformed(void **state)
{
	for (int bad = 0; bad < 2; bad++) {
		struct buf trees[2] = {BUF_INIT, BUF_INIT};
		const struct tree_entry *a, *b;
		struct tree_merge m;

		append_entry(&trees[0], 'a', FILE_1);
		append_entry(&trees[1], 'a', FILE_2);
		for (int k = 0; k < 2; k++)
			append_entry(&trees[k], 'b', FILE_1);
		buf_set_len(&trees[bad], trees[bad].len - 1);
		m = tree_merge_make(bytes_of(&trees[0]), bytes_of(&trees[1]),
				    HASH_SHA1);
		expect_next(&m, 'a', FILE_1, FILE_2);
		assert_int_equal(tree_merge_next(&m, &a, &b), ERR_CORRUPT);
		assert_int_equal(m.is_a_bad, !bad);
		buf_release(&trees[0]);
		buf_release(&trees[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_malformed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
