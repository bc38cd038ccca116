/* SPDX-License-Identifier: MIT */
/* walk/tree-table.c: tables from deltas against tables from bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "pack/delta.h"
#include "t/unit/random.h"
#include "walk/tree-table.h"

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

/*
 * Append an entry. Few names and few ids, with stretches that look like
 * entries themselves inside: deltas will copy from anywhere to anywhere.
 */
static void append_entry(struct buf *tree, enum hash_algo algo, uint64_t *seed)
{
	static const char *const names[] = {"a", "bb", "ccc", "a-long-name",
					    "100644 x"};
	uint64_t r = random_next(seed);
	uint8_t id[OID_MAX_LEN];

	memset(id, (int)(r % 5), sizeof(id));
	if (r % 3 == 0)
		memcpy(id + r % 7, "100644 a", 9);
	buf_printf(tree, "%s %s", r & 64 ? "100644" : "40000",
		   names[r / 128 % ARRAY_NR(names)]);
	buf_append_char(tree, '\0');
	buf_append(tree, id, hash_len(algo));
}

static void random_tree(struct buf *tree, enum hash_algo algo, uint64_t *seed)
{
	for (uint64_t n = random_next(seed) % 40; n > 0; n--)
		append_entry(tree, algo, seed);
}

/* The parser's table is what tree_next() says. */
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

/* What a delta inserts, and what is of the base, are all of a tree. */
static void check_news(struct fixture *f, const struct buf *base,
		       const void *delta, size_t delta_len)
{
	struct tree_table from, all;
	uint32_t *parsed;
	size_t nr;
	int ret;

	tree_builder_parse(&f->parser, (const uint8_t *)base->data, base->len);
	from = tree_builder_table(&f->parser);
	ret = tree_builder_news(&f->deriver, &from, delta, delta_len);
	nr = f->deriver.parsed_nr;
	parsed = calloc(nr + 1, sizeof(*parsed));
	assert_non_null(parsed);
	if (nr)
		memcpy(parsed, f->deriver.parsed, nr * sizeof(*parsed));
	assert_int_equal(
		tree_builder_derive(&f->deriver, &from, delta, delta_len), ret);
	all = tree_builder_table(&f->deriver);
	for (uint32_t i = 0; !ret && i < all.nr; i++) {
		bool found = false;

		for (size_t k = 0; !found && k < nr; k++)
			found = parsed[k] == all.entries[i];
		for (uint32_t k = 0; !found && k < from.nr; k++)
			found = from.entries[k] == all.entries[i];
		assert_true(found);
	}
	free(parsed);
}

/* Apply a delta both ways; both are a tree and the same, or none is. */
static void check_delta(struct fixture *f, const struct buf *base,
			const void *delta, size_t delta_len)
{
	struct buf result = BUF_INIT;
	struct tree_table plain, derived, from;
	uint64_t base_size, size;
	int ret, expect;

	assert_int_equal(tree_builder_parse(&f->parser,
					    (const uint8_t *)base->data,
					    base->len),
			 0);
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
	check_news(f, base, delta, delta_len);
}

static void put_size(struct buf *b, uint64_t size)
{
	for (; size >= 0x80; size >>= 7)
		buf_append_char(b, (char)(size | 0x80));
	buf_append_char(b, (char)size);
}

static void put_copy(struct buf *b, size_t off, size_t len)
{
	buf_append_char(b, (char)0xb3);
	buf_append_char(b, (char)off);
	buf_append_char(b, (char)(off >> 8));
	buf_append_char(b, (char)len);
	buf_append_char(b, (char)(len >> 8));
}

static void put_insert(struct buf *b, const char *bytes, size_t len)
{
	for (; len; len -= len < 127 ? len : 127) {
		size_t n = len < 127 ? len : 127;

		buf_append_char(b, (char)n);
		buf_append(b, bytes, n);
		bytes += n;
	}
}

/* Make `target` of random pieces: copies where the base has the bytes. */
static void chop(struct buf *delta, const struct buf *base,
		 const struct buf *target, uint64_t *seed)
{
	size_t at = 0;

	buf_reset(delta);
	put_size(delta, base->len);
	put_size(delta, target->len);
	while (at < target->len) {
		size_t len = random_next(seed) % 90 + 1;
		const char *found = NULL;

		if (len > target->len - at)
			len = target->len - at;
		if (random_next(seed) % 4)
			found = memmem(base->data, base->len, target->data + at,
				       len);
		if (found)
			put_copy(delta, (size_t)(found - base->data), len);
		else
			put_insert(delta, target->data + at, len);
		at += len;
	}
}

/* Another tree from parts of the first one and new entries. */
static void vary(struct buf *out, const struct buf *base, enum hash_algo algo,
		 uint64_t *seed)
{
	struct cursor c = cursor_make(base->data, base->len);
	struct tree_entry entry;

	buf_reset(out);
	while (tree_next(&entry, &c, algo) > 0) {
		uint64_t r = random_next(seed) % 16;

		if (r == 0)
			append_entry(out, algo, seed);
		if (r != 1)
			buf_append(out, entry.raw, entry.raw_len);
		if (r == 2 && out->len > 40)
			out->data[out->len - 3] ^= 1;
	}
}

static void chopped_deltas(void **state)
{
	uint64_t seed = random_seed();

	for (int algo = HASH_SHA1; algo <= HASH_SHA256; algo++) {
		struct buf base = BUF_INIT, target = BUF_INIT, delta = BUF_INIT;
		struct fixture f;

		setup(&f, algo);
		for (int i = 0; i < 1500; i++) {
			buf_reset(&base);
			random_tree(&base, algo, &seed);
			check_parsed(&f, &base);
			vary(&target, &base, algo, &seed);
			chop(&delta, &base, &target, &seed);
			check_delta(&f, &base, delta.data, delta.len);
		}
		buf_release(&base);
		buf_release(&target);
		buf_release(&delta);
		teardown(&f);
	}
}

/* Copies of anything: mostly no trees, and never something else. */
static void wild_deltas(void **state)
{
	struct buf base = BUF_INIT, ops = BUF_INIT, delta = BUF_INIT;
	uint64_t seed = random_seed();
	struct fixture f;

	setup(&f, HASH_SHA1);
	for (int i = 0; i < 3000; i++) {
		size_t size = 0;

		buf_reset(&base);
		buf_reset(&ops);
		buf_reset(&delta);
		random_tree(&base, HASH_SHA1, &seed);
		if (!base.len)
			continue;
		for (uint64_t n = random_next(&seed) % 4; n > 0; n--) {
			size_t off = random_next(&seed) % base.len;
			size_t len = random_next(&seed) % (base.len - off) + 1;

			if (random_next(&seed) % 2)
				off = 0;
			put_copy(&ops, off, len);
			size += len;
		}
		put_size(&delta, base.len);
		put_size(&delta, size);
		buf_append(&delta, ops.data, ops.len);
		check_delta(&f, &base, delta.data, delta.len);
	}
	buf_release(&base);
	buf_release(&ops);
	buf_release(&delta);
	teardown(&f);
}

static void real_deltas(void **state)
{
	struct buf base = BUF_INIT, target = BUF_INIT;
	uint64_t seed = random_seed();
	struct fixture f;

	setup(&f, HASH_SHA1);
	for (int i = 0; i < 500; i++) {
		struct delta_index *index;
		void *delta;
		size_t len;

		buf_reset(&base);
		random_tree(&base, HASH_SHA1, &seed);
		vary(&target, &base, HASH_SHA1, &seed);
		index = delta_index_new(base.data, base.len);
		if (index && target.len &&
		    !delta_create(index, target.data, target.len, 0, &delta,
				  &len)) {
			check_delta(&f, &base, delta, len);
			free(delta);
		}
		delta_index_free(index);
	}
	buf_release(&base);
	buf_release(&target);
	teardown(&f);
}

static int derive(struct fixture *f, const struct buf *base,
		  const struct buf *delta)
{
	struct tree_table from;

	assert_int_equal(tree_builder_parse(&f->parser,
					    (const uint8_t *)base->data,
					    base->len),
			 0);
	from = tree_builder_table(&f->parser);
	return tree_builder_derive(&f->deriver, &from,
				   (const uint8_t *)delta->data, delta->len);
}

static void bad_deltas(void **state)
{
	struct buf base = BUF_INIT, delta = BUF_INIT;
	struct fixture f;

	setup(&f, HASH_SHA1);
	buf_append(&base, "100644 a\0aaaaaaaaaaaaaaaaaaaa", 29);
	put_size(&delta, 29); /* another size of the result */
	put_size(&delta, 58);
	put_copy(&delta, 0, 29);
	assert_int_equal(derive(&f, &base, &delta), ERR_CORRUPT);
	put_copy(&delta, 0, 29);
	assert_int_equal(derive(&f, &base, &delta), 0);
	assert_int_equal(tree_builder_table(&f.deriver).nr, 2);
	put_copy(&delta, 1, 29); /* past the base */
	assert_int_equal(derive(&f, &base, &delta), ERR_CORRUPT);
	buf_reset(&delta);
	put_size(&delta, 28); /* another base */
	put_size(&delta, 29);
	put_copy(&delta, 0, 29);
	assert_int_equal(derive(&f, &base, &delta), ERR_CORRUPT);
	buf_reset(&delta);
	buf_append_char(&delta, (char)0x80); /* cut short */
	assert_int_equal(derive(&f, &base, &delta), ERR_CORRUPT);
	assert_int_equal(
		tree_builder_parse(&f.parser, (const uint8_t *)base.data, 28),
		ERR_CORRUPT);
	assert_int_equal(tree_builder_parse(&f.parser, NULL, UINT32_MAX),
			 ERR_UNSUPPORTED);
	buf_release(&base);
	buf_release(&delta);
	teardown(&f);
}

/* A name that comes in more pieces than are put together is left to others. */
static void long_names(void **state)
{
	struct buf base = BUF_INIT, target = BUF_INIT, delta = BUF_INIT;
	uint64_t seed = random_seed();
	struct fixture f;

	setup(&f, HASH_SHA1);
	random_tree(&base, HASH_SHA1, &seed);
	buf_printf(&target, "100644 ");
	for (int i = 0; i < 50000; i++)
		buf_append_char(&target, 'x');
	buf_append(&target, "\0aaaaaaaaaaaaaaaaaaaa", 21);
	put_size(&delta, base.len);
	put_size(&delta, target.len);
	put_insert(&delta, target.data, target.len);
	assert_int_equal(derive(&f, &base, &delta), 0);
	buf_reset(&delta);
	put_size(&delta, base.len);
	put_size(&delta, 2 * target.len - 21);
	put_insert(&delta, target.data, target.len - 21);
	put_insert(&delta, target.data, target.len);
	assert_int_equal(derive(&f, &base, &delta), ERR_CORRUPT);
	buf_release(&base);
	buf_release(&target);
	buf_release(&delta);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chopped_deltas), cmocka_unit_test(wild_deltas),
		cmocka_unit_test(real_deltas),    cmocka_unit_test(bad_deltas),
		cmocka_unit_test(long_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
