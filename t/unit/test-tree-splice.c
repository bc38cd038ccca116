/* SPDX-License-Identifier: MIT */
/*
 * Tests of trees/tree-splice.c, which finds the entries of a new tree from an
 * old tree and a delta. In order, the entries that were kept and the new
 * entries must make up the new tree.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/treedelta.h"
#include "trees/tree-splice.h"

struct fixture {
	struct tree_splice whole, splice;
	const struct buf *base;
	const struct tree_starts *starts; /* entries of the base */
	/* The new tree, as the bytes of the reported entries. */
	struct buf made;
};

static const uint8_t *old_bytes(void *ctx, uint32_t i)
{
	const struct fixture *f = ctx;

	assert_true(i < f->starts->nr);
	return (const uint8_t *)f->base->data + f->starts->starts[i];
}

static int take_old(void *ctx, uint32_t first, uint32_t last)
{
	struct fixture *f = ctx;
	const uint32_t *starts = f->starts->starts;

	assert_true(first < last && last <= f->starts->nr);
	return buf_append(&f->made, f->base->data + starts[first],
			  starts[last] - starts[first]);
}

static int take_new(void *ctx, const struct tree_entry *entry)
{
	struct fixture *f = ctx;

	return buf_append(&f->made, entry->raw, entry->raw_len);
}

static const struct tree_splice_ops ops = {
	.old_bytes = old_bytes,
	.take_old = take_old,
	.take_new = take_new,
};

static void setup(struct fixture *f, enum hash_algo algo)
{
	*f = (struct fixture){.made = BUF_INIT};
	tree_splice_init(&f->whole, &ops, f, algo);
	tree_splice_init(&f->splice, &ops, f, algo);
	f->whole.with_starts = true;
}

static void teardown(struct fixture *f)
{
	tree_splice_release(&f->whole);
	tree_splice_release(&f->splice);
	buf_release(&f->made);
}

static int parse(struct fixture *f, const struct buf *tree)
{
	buf_reset(&f->made);
	return tree_splice_whole(&f->whole, (const uint8_t *)tree->data,
				 tree->len);
}

/* Applies a delta to the entries of the tree `base`. */
static int splice(struct fixture *f, const struct buf *base, const void *delta,
		  size_t delta_len, bool with_starts)
{
	struct tree_starts starts;

	assert_int_equal(parse(f, base), 0);
	starts = (struct tree_starts){f->whole.starts, (uint32_t)f->whole.nr};
	f->base = base;
	f->starts = &starts;
	f->splice.with_starts = with_starts;
	buf_reset(&f->made);
	return tree_splice_delta(&f->splice, &starts, delta, delta_len);
}

static void check_starts(struct fixture *f, const struct buf *tree)
{
	struct cursor c = cursor_make(tree->data, tree->len);
	struct tree_entry entry;
	size_t i = 0;

	while (tree_next(&entry, &c, f->splice.algo) > 0) {
		assert_true(i < f->splice.nr);
		assert_int_equal(f->splice.starts[i++],
				 (const char *)entry.raw - tree->data);
	}
	assert_int_equal(i, f->splice.nr);
	assert_int_equal(f->splice.starts[i], tree->len);
}

/*
 * Applies a delta of a tree with tree_splice_delta(), and compares with
 * delta_apply(). The entries that tree_splice_delta() reports, one after
 * another, must be the bytes that delta_apply() makes. If these bytes are not a
 * tree, tree_splice_delta() must return an error.
 */
static void check_delta(void *ctx, const struct buf *base, const void *delta,
			size_t delta_len)
{
	struct fixture *f = ctx;
	struct buf result = BUF_INIT;
	uint64_t base_size, size;
	int expect;

	assert_int_equal(delta_sizes(delta, delta_len, &base_size, &size, NULL),
			 0);
	assert_int_equal(buf_reserve(&result, size), 0);
	assert_int_equal(delta_apply(result.data, size, base->data, base->len,
				     delta, delta_len),
			 0);
	buf_set_len(&result, size);
	expect = parse(f, &result);
	for (int with_starts = 0; with_starts < 2; with_starts++) {
		assert_int_equal(splice(f, base, delta, delta_len, with_starts),
				 expect);
		if (expect)
			continue;
		assert_int_equal(f->made.len, size);
		assert_memory_equal(f->made.data, result.data, size);
		assert_int_equal(f->splice.at, size);
		if (with_starts)
			check_starts(f, &result);
	}
	buf_release(&result);
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

static int splice_buf(struct fixture *f, const struct buf *base,
		      const struct buf *delta)
{
	return splice(f, base, delta->data, delta->len, true);
}

static void bad_deltas(void **state)
{
	struct buf base = BUF_INIT, delta = BUF_INIT;
	struct fixture f;

	setup(&f, HASH_SHA1);
	buf_append(&base, "100644 a\0aaaaaaaaaaaaaaaaaaaa", 29);
	/* The delta states a wrong size of its result. */
	treedelta_size(&delta, 29);
	treedelta_size(&delta, 58);
	treedelta_copy(&delta, 0, 29);
	assert_int_equal(splice_buf(&f, &base, &delta), ERR_CORRUPT);
	treedelta_copy(&delta, 0, 29);
	assert_int_equal(splice_buf(&f, &base, &delta), 0);
	assert_int_equal(f.splice.nr, 2);
	/* This copy instruction reads past the end of the base. */
	treedelta_copy(&delta, 1, 29);
	assert_int_equal(splice_buf(&f, &base, &delta), ERR_CORRUPT);
	buf_reset(&delta);
	treedelta_size(&delta, 28); /* states another base size */
	treedelta_size(&delta, 29);
	treedelta_copy(&delta, 0, 29);
	assert_int_equal(splice_buf(&f, &base, &delta), ERR_CORRUPT);
	buf_reset(&delta);
	buf_append_char(&delta, (char)0x80); /* incomplete instruction */
	assert_int_equal(splice_buf(&f, &base, &delta), ERR_CORRUPT);
	buf_set_len(&base, 28);
	assert_int_equal(parse(&f, &base), ERR_CORRUPT);
	assert_int_equal(tree_splice_whole(&f.whole, NULL, UINT32_MAX),
			 ERR_UNSUPPORTED);
	buf_release(&base);
	buf_release(&delta);
	teardown(&f);
}

/*
 * A name is put together from too many pieces of the delta, so the entry is
 * refused. The caller must then apply the delta and parse the whole tree.
 */
static void long_names(void **state)
{
	struct buf base = BUF_INIT, target = BUF_INIT, delta = BUF_INIT;
	uint64_t seed = random_seed();
	struct fixture f;

	setup(&f, HASH_SHA1);
	treedelta_tree(&base, HASH_SHA1, &seed);
	buf_printf(&target, "100644 ");
	for (int i = 0; i < 50000; i++)
		buf_append_char(&target, 'x');
	buf_append(&target, "\0aaaaaaaaaaaaaaaaaaaa", 21);
	treedelta_size(&delta, base.len);
	treedelta_size(&delta, target.len);
	treedelta_insert(&delta, target.data, target.len);
	assert_int_equal(splice_buf(&f, &base, &delta), 0);
	buf_reset(&delta);
	treedelta_size(&delta, base.len);
	treedelta_size(&delta, 2 * target.len - 21);
	treedelta_insert(&delta, target.data, target.len - 21);
	treedelta_insert(&delta, target.data, target.len);
	assert_int_equal(splice_buf(&f, &base, &delta), ERR_CORRUPT);
	buf_release(&base);
	buf_release(&target);
	buf_release(&delta);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_deltas),
		cmocka_unit_test(bad_deltas),
		cmocka_unit_test(long_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
