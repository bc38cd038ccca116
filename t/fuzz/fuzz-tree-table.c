/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for tree tables, which store a tree as an array of entry numbers.
 * The first byte of the input says where the rest is cut into a tree and a
 * delta against this tree. One table is made from the tree, and one with the
 * delta for the resulting tree. Each must have the entries that tree_next()
 * finds.
 *
 * The bytes of the delta are also parsed as a second tree, with and without
 * reuse of entries of the first tree's table. Both ways must succeed, or both
 * must fail.
 */
#include "pack/delta.h"
#include "t/fuzz/fuzz.h"
#include "trees/tree-store.h"

#define RESULT_MAX (1 << 16)

struct input {
	const uint8_t *tree, *delta;
	size_t tree_len, delta_len;
	enum hash_algo algo;
};

/* Check that `table` has the entries of the tree in `bytes`. */
static void check(const struct entry_pool *pool, struct tree_table table,
		  const uint8_t *bytes, size_t len, enum hash_algo algo)
{
	struct cursor c = cursor_make(bytes, len);
	struct tree_entry entry;
	uint32_t i = 0;

	while (tree_next(&entry, &c, algo) > 0) {
		require(i < table.nr);
		require(entry_pool_len(pool, table.entries[i]) ==
			entry.raw_len);
		require(!memcmp(entry_pool_raw(pool, table.entries[i]),
				entry.raw, entry.raw_len));
		require(table.starts[i] == (size_t)(entry.raw - bytes));
		i++;
	}
	require(i == table.nr && table.starts[i] == len);
}

/*
 * Derive a table from the delta and from `base`, the table of the base tree.
 * The derived table must have the entries of the tree that the delta produces.
 */
static void derive(struct entry_pool *pool, const struct tree_table *base,
		   const struct input *in)
{
	uint64_t base_size, size;
	struct tree_builder b;
	uint8_t *out;

	if (delta_sizes(in->delta, in->delta_len, &base_size, &size, NULL) <
		    0 ||
	    size > RESULT_MAX)
		return;
	out = malloc(size ? size : 1);
	require(out);
	tree_builder_init(&b, pool, in->algo);
	if (!tree_builder_derive(&b, base, in->delta, in->delta_len)) {
		require(delta_apply(out, size, in->tree, in->tree_len,
				    in->delta, in->delta_len) == 0);
		check(pool, tree_builder_table(&b), out, size, in->algo);
	}
	tree_builder_release(&b);
	free(out);
}

/*
 * Make the table of the second tree with reuse of entries of the first tree's
 * table (`near`). The table must have the entries of the second tree. Parsing
 * without reuse must give the same return value.
 */
static void parse_near(struct entry_pool *pool, const struct tree_table *near,
		       const struct input *in)
{
	struct tree_builder b;
	int ret;

	tree_builder_init(&b, pool, in->algo);
	ret = tree_builder_parse_near(&b, near, in->delta, in->delta_len);
	if (!ret)
		check(pool, tree_builder_table(&b), in->delta, in->delta_len,
		      in->algo);
	require(ret == tree_builder_parse(&b, in->delta, in->delta_len));
	tree_builder_release(&b);
}

static void run(const struct input *in)
{
	struct entry_pool pool;
	struct tree_builder b;

	require(entry_pool_init(&pool) == 0);
	tree_builder_init(&b, &pool, in->algo);
	if (!tree_builder_parse(&b, in->tree, in->tree_len)) {
		struct tree_table table = tree_builder_table(&b);

		check(&pool, table, in->tree, in->tree_len, in->algo);
		derive(&pool, &table, in);
		parse_near(&pool, &table, in);
	}
	tree_builder_release(&b);
	entry_pool_release(&pool);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct input in;

	if (!len)
		return 0;
	in.tree = data + 1;
	in.tree_len = (size_t)data[0] * (len - 1) / 255;
	in.delta = in.tree + in.tree_len;
	in.delta_len = len - 1 - in.tree_len;
	for (int i = 0; i < 2; i++) {
		in.algo = i ? HASH_SHA256 : HASH_SHA1;
		run(&in);
	}
	return 0;
}
