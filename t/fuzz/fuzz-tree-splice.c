/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for trees/tree-splice.h, which finds out which entries of a tree
 * a delta changes. The first byte of the input says where the rest is cut into
 * a tree and a delta. The reported entries must be those of the tree that the
 * delta produces.
 */
#include "base/buf.h"
#include "pack/delta.h"
#include "t/fuzz/fuzz.h"
#include "trees/tree-splice.h"

#define RESULT_MAX (1 << 16)

struct told {
	const uint8_t *base;
	struct tree_starts starts; /* entries of the base */
	/* Entries that were reported so far, as the bytes of a tree. */
	struct buf made;
};

static const uint8_t *old_bytes(void *ctx, uint32_t i)
{
	const struct told *t = ctx;

	require(i < t->starts.nr);
	return t->base + t->starts.starts[i];
}

static int take_old(void *ctx, uint32_t first, uint32_t last)
{
	struct told *t = ctx;
	const uint32_t *starts = t->starts.starts;

	require(first < last && last <= t->starts.nr);
	return buf_append(&t->made, t->base + starts[first],
			  starts[last] - starts[first]);
}

static int take_new(void *ctx, const struct tree_entry *entry)
{
	struct told *t = ctx;

	return buf_append(&t->made, entry->raw, entry->raw_len);
}

static const struct tree_splice_ops ops = {
	.old_bytes = old_bytes,
	.take_old = take_old,
	.take_new = take_new,
};

/*
 * Apply the delta, and parse the resulting tree with `whole`. t->made has the
 * entries that tree_splice_delta() has reported for the delta, and `ret` is the
 * result of that call. The reported entries must be those of the resulting
 * tree.
 */
static void compare(struct told *t, struct tree_splice *whole, size_t base_len,
		    const uint8_t *delta, size_t delta_len, int ret)
{
	uint64_t base_size, size;
	uint8_t *out;

	if (delta_sizes(delta, delta_len, &base_size, &size, NULL) < 0 ||
	    size > RESULT_MAX) {
		require(ret < 0 || size > RESULT_MAX);
		return;
	}
	out = malloc(size ? size : 1);
	require(out);
	if (delta_apply(out, size, t->base, base_len, delta, delta_len) < 0) {
		require(ret < 0);
	} else if (!ret) {
		require(t->made.len == size &&
			(!size || !memcmp(t->made.data, out, size)));
	} else {
		/*
		 * The input is too short for a tree that exceeds a limit of its
		 * size or its number of entries. So the only possible error is
		 * that the result of the delta is not a tree.
		 */
		require(ret == ERR_CORRUPT &&
			tree_splice_whole(whole, out, size) == ERR_CORRUPT);
	}
	free(out);
}

static void run(const uint8_t *base, size_t base_len, const uint8_t *delta,
		size_t delta_len, enum hash_algo algo)
{
	struct told told = {.base = base, .made = BUF_INIT};
	struct tree_splice whole, splice;
	int ret;

	tree_splice_init(&whole, &ops, &told, algo);
	tree_splice_init(&splice, &ops, &told, algo);
	whole.with_starts = splice.with_starts = true;
	if (!tree_splice_whole(&whole, base, base_len)) {
		uint32_t *starts = whole.starts;

		told.starts = (struct tree_starts){starts, (uint32_t)whole.nr};
		/*
		 * Below, `whole` parses another tree. Make it allocate new
		 * memory, because the base tree's array of starts is still
		 * needed.
		 */
		whole.starts = NULL;
		whole.alloc = 0;
		buf_reset(&told.made);
		ret = tree_splice_delta(&splice, &told.starts, delta,
					delta_len);
		compare(&told, &whole, base_len, delta, delta_len, ret);
		free(starts);
	}
	tree_splice_release(&whole);
	tree_splice_release(&splice);
	buf_release(&told.made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	size_t cut;

	if (!len)
		return 0;
	cut = (size_t)data[0] * (len - 1) / 255;
	data++;
	len--;
	run(data, cut, data + cut, len - cut, HASH_SHA1);
	run(data, cut, data + cut, len - cut, HASH_SHA256);
	return 0;
}
