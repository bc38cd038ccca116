/* SPDX-License-Identifier: MIT */
/*
 * Tests of trees/tree-table.c, which stores a tree as a table of entry numbers.
 * A table made from a delta must equal the table made from the bytes of the
 * tree.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "t/unit/treedelta.h"
#include "trees/tree-store.h"

struct fixture {
	enum hash_algo algo;
	struct entry_pool pool;
	struct tree_builder parser, deriver;
};

static void setup(struct fixture *f, enum hash_algo algo)
{
	f->algo = algo;
	assert_int_equal(entry_pool_init(&f->pool), 0);
	tree_builder_init(&f->parser, &f->pool, algo);
	tree_builder_init(&f->deriver, &f->pool, algo);
}

static void teardown(struct fixture *f)
{
	tree_builder_release(&f->parser);
	tree_builder_release(&f->deriver);
	entry_pool_release(&f->pool);
}

/* Checks that a parsed table has the entries that tree_next() returns. */
static void check_parsed(struct fixture *f, const struct buf *tree)
{
	struct cursor c = cursor_make(tree->data, tree->len);
	struct tree_table t;
	struct tree_entry entry;
	uint32_t i = 0;

	assert_int_equal(tree_builder_parse(&f->parser,
					    (const uint8_t *)tree->data,
					    tree->len),
			 0);
	t = tree_builder_table(&f->parser);
	while (tree_next(&entry, &c, f->algo) > 0) {
		assert_true(i < t.nr);
		assert_int_equal(t.starts[i],
				 (const char *)entry.raw - tree->data);
		assert_int_equal(entry_pool_len(&f->pool, t.entries[i]),
				 entry.raw_len);
		assert_memory_equal(entry_pool_raw(&f->pool, t.entries[i]),
				    entry.raw, entry.raw_len);
		i++;
	}
	assert_int_equal(t.nr, i);
	assert_int_equal(t.starts[i], tree->len);
}

/*
 * Applies a delta to a table, and to the bytes of the tree. Both must give the
 * same tree, or both must fail.
 */
static void check_delta(void *ctx, const struct buf *base, const void *delta,
			size_t delta_len)
{
	struct fixture *f = ctx;
	struct buf result = BUF_INIT;
	struct tree_table plain, derived, from;
	uint64_t base_size, size;
	int ret, expect;

	check_parsed(f, base);
	from = tree_builder_table(&f->parser);
	ret = tree_builder_derive(&f->deriver, &from, delta, delta_len);
	assert_int_equal(delta_sizes(delta, delta_len, &base_size, &size, NULL),
			 0);
	assert_int_equal(buf_reserve(&result, size), 0);
	assert_int_equal(delta_apply(result.data, size, base->data, base->len,
				     delta, delta_len),
			 0);
	expect = tree_builder_parse(&f->parser, (const uint8_t *)result.data,
				    size);
	assert_int_equal(ret, expect);
	plain = tree_builder_table(&f->parser);
	derived = tree_builder_table(&f->deriver);
	if (!ret) {
		assert_int_equal(plain.nr, derived.nr);
		for (uint32_t i = 0; i < plain.nr; i++)
			assert_true(entry_pool_equal(&f->pool, plain.entries[i],
						     derived.entries[i]));
		assert_memory_equal(plain.starts, derived.starts,
				    (plain.nr + 1) * sizeof(*plain.starts));
	}
	buf_release(&result);
}

/*
 * Makes a table from the bytes of a tree, and reuses entries of the similar
 * table `near`. The result must equal a table that is made without `near`.
 */
static void check_near(struct fixture *f, const struct buf *near,
		       const struct buf *tree)
{
	const uint8_t *bytes = (const uint8_t *)tree->data;
	struct tree_table plain, made, from;
	int ret, expect;

	check_parsed(f, near);
	from = tree_builder_table(&f->parser);
	ret = tree_builder_parse_near(&f->deriver, &from, bytes, tree->len);
	expect = tree_builder_parse(&f->parser, bytes, tree->len);
	assert_int_equal(ret, expect);
	if (ret)
		return;
	plain = tree_builder_table(&f->parser);
	made = tree_builder_table(&f->deriver);
	assert_int_equal(plain.nr, made.nr);
	for (uint32_t i = 0; i < plain.nr; i++)
		assert_true(entry_pool_equal(&f->pool, plain.entries[i],
					     made.entries[i]));
	assert_memory_equal(plain.starts, made.starts,
			    (plain.nr + 1) * sizeof(*plain.starts));
}

/*
 * Appends the entry of a file with the name f<name>. Its id depends on `name`
 * and `version`.
 */
static void add_entry(struct buf *tree, enum hash_algo algo, unsigned name,
		      unsigned version)
{
	uint8_t id[OID_MAX_LEN];

	memset(id, (int)(name * 7 + version), sizeof(id));
	assert_int_equal(buf_printf(tree, "100644 f%04u%c", name, '\0'), 0);
	assert_int_equal(buf_append(tree, id, hash_len(algo)), 0);
}

/*
 * Makes trees that differ from one tree in one entry: at each position, an
 * entry is changed, removed or added. Other trees have a damaged byte. The
 * tables of all trees must be right.
 */
static void near_trees(void **state)
{
	enum { NR = 12 };

	for (int algo = HASH_SHA1; algo <= HASH_SHA256; algo++) {
		struct buf near = BUF_INIT, tree = BUF_INIT;
		struct fixture f;

		setup(&f, algo);
		for (unsigned i = 0; i < NR; i++)
			add_entry(&near, algo, 2 * i, 0);
		check_near(&f, &near, &tree);
		check_near(&f, &near, &near);
		for (unsigned kind = 0; kind < 4; kind++)
			for (unsigned at = 0; at < NR; at++) {
				buf_reset(&tree);
				for (unsigned i = 0; i < NR; i++) {
					if (i != at || kind > 1)
						add_entry(&tree, algo, 2 * i,
							  i == at && kind == 2);
					if (i == at && kind == 1)
						add_entry(&tree, algo,
							  2 * i + 1, 5);
				}
				check_near(&f, &near, &tree);
				check_near(&f, &tree, &near);
			}
		buf_reset(&tree);
		assert_int_equal(buf_append(&tree, near.data, near.len), 0);
		for (size_t i = 0; i < near.len; i++) {
			tree.data[i] ^= 0x40;
			check_near(&f, &near, &tree);
			tree.data[i] ^= 0x40;
			buf_set_len(&tree, i);
			check_near(&f, &near, &tree);
			buf_set_len(&tree, near.len);
			memcpy(tree.data, near.data, near.len);
		}
		buf_release(&near);
		buf_release(&tree);
		teardown(&f);
	}
}

static void random_deltas(void **state)
{
	uint64_t seed = random_seed();

	for (int algo = HASH_SHA1; algo <= HASH_SHA256; algo++) {
		struct fixture f;

		setup(&f, algo);
		treedelta_chopped(check_delta, &f, algo, 1500, &seed);
		treedelta_wild(check_delta, &f, algo, 1500, &seed);
		treedelta_real(check_delta, &f, algo, 250, &seed);
		teardown(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(near_trees),
		cmocka_unit_test(random_deltas),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
