/* SPDX-License-Identifier: MIT */
/*
 * Random trees as bytes, and random deltas between them. Tests use them for the
 * code that finds out which entries of a tree a delta changes.
 */
#ifndef T_UNIT_TREEDELTA_H
#define T_UNIT_TREEDELTA_H

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "object/parse.h"
#include "pack/delta.h"
#include "t/unit/random.h"

/* Called for one delta. `base` is the tree to which the delta applies. */
typedef void (*treedelta_fn)(void *ctx, const struct buf *base,
			     const void *delta, size_t delta_len);

/*
 * Append a random entry to a tree. There are few different names and ids, so a
 * delta can copy equal bytes from other entries. Some names and ids contain
 * bytes that look like the start of an entry, which must not mislead the tested
 * code.
 */
static inline void treedelta_entry(struct buf *tree, enum hash_algo algo,
				   uint64_t *seed)
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

static inline void treedelta_tree(struct buf *tree, enum hash_algo algo,
				  uint64_t *seed)
{
	for (uint64_t n = random_next(seed) % 40; n > 0; n--)
		treedelta_entry(tree, algo, seed);
}

static inline void treedelta_size(struct buf *b, uint64_t size)
{
	for (; size >= 0x80; size >>= 7)
		buf_append_char(b, (char)(size | 0x80));
	buf_append_char(b, (char)size);
}

static inline void treedelta_copy(struct buf *b, size_t off, size_t len)
{
	buf_append_char(b, (char)0xb3);
	buf_append_char(b, (char)off);
	buf_append_char(b, (char)(off >> 8));
	buf_append_char(b, (char)len);
	buf_append_char(b, (char)(len >> 8));
}

static inline void treedelta_insert(struct buf *b, const char *bytes,
				    size_t len)
{
	for (; len; len -= len < 127 ? len : 127) {
		size_t n = len < 127 ? len : 127;

		buf_append_char(b, (char)n);
		buf_append(b, bytes, n);
		bytes += n;
	}
}

/*
 * Makes a delta with the result `target`, which is cut into random pieces. A
 * piece whose bytes are in the base is copied from the base. Other pieces are
 * inserted.
 */
static inline void treedelta_chop(struct buf *delta, const struct buf *base,
				  const struct buf *target, uint64_t *seed)
{
	size_t at = 0;

	buf_reset(delta);
	treedelta_size(delta, base->len);
	treedelta_size(delta, target->len);
	while (at < target->len) {
		size_t len = random_next(seed) % 90 + 1;
		const char *found = NULL;

		if (len > target->len - at)
			len = target->len - at;
		if (random_next(seed) % 4)
			found = memmem(base->data, base->len, target->data + at,
				       len);
		if (found)
			treedelta_copy(delta, (size_t)(found - base->data),
				       len);
		else
			treedelta_insert(delta, target->data + at, len);
		at += len;
	}
}

/* Makes another tree from parts of `base` and from new entries. */
static inline void treedelta_vary(struct buf *out, const struct buf *base,
				  enum hash_algo algo, uint64_t *seed)
{
	struct cursor c = cursor_make(base->data, base->len);
	struct tree_entry entry;

	buf_reset(out);
	while (tree_next(&entry, &c, algo) > 0) {
		uint64_t r = random_next(seed) % 16;

		if (r == 0)
			treedelta_entry(out, algo, seed);
		if (r != 1)
			buf_append(out, entry.raw, entry.raw_len);
		if (r == 2 && out->len > 40)
			out->data[out->len - 3] ^= 1;
	}
}

/*
 * Make `nr` deltas between similar trees. Each delta consists of random pieces
 * (treedelta_chop()). Call `fn` for each delta.
 */
static inline void treedelta_chopped(treedelta_fn fn, void *ctx,
				     enum hash_algo algo, int nr,
				     uint64_t *seed)
{
	struct buf base = BUF_INIT, target = BUF_INIT, delta = BUF_INIT;

	for (int i = 0; i < nr; i++) {
		buf_reset(&base);
		treedelta_tree(&base, algo, seed);
		treedelta_vary(&target, &base, algo, seed);
		treedelta_chop(&delta, &base, &target, seed);
		fn(ctx, &base, delta.data, delta.len);
	}
	buf_release(&base);
	buf_release(&target);
	buf_release(&delta);
}

/*
 * Make `nr` deltas that copy arbitrary ranges of the base, and call `fn` for
 * each delta. Most of the results of these deltas are not valid trees.
 */
static inline void treedelta_wild(treedelta_fn fn, void *ctx,
				  enum hash_algo algo, int nr, uint64_t *seed)
{
	struct buf base = BUF_INIT, ops = BUF_INIT, delta = BUF_INIT;

	for (int i = 0; i < nr; i++) {
		size_t size = 0;

		buf_reset(&base);
		buf_reset(&ops);
		buf_reset(&delta);
		treedelta_tree(&base, algo, seed);
		if (!base.len)
			continue;
		for (uint64_t n = random_next(seed) % 4; n > 0; n--) {
			size_t off = random_next(seed) % base.len;
			size_t len = random_next(seed) % (base.len - off) + 1;

			if (random_next(seed) % 2)
				off = 0;
			treedelta_copy(&ops, off, len);
			size += len;
		}
		treedelta_size(&delta, base.len);
		treedelta_size(&delta, size);
		buf_append(&delta, ops.data, ops.len);
		fn(ctx, &base, delta.data, delta.len);
	}
	buf_release(&base);
	buf_release(&ops);
	buf_release(&delta);
}

/*
 * Make `nr` deltas with the encoder that also makes the deltas of packs. Call
 * `fn` for each delta.
 */
static inline void treedelta_real(treedelta_fn fn, void *ctx,
				  enum hash_algo algo, int nr, uint64_t *seed)
{
	struct buf base = BUF_INIT, target = BUF_INIT;

	for (int i = 0; i < nr; i++) {
		struct delta_index *index;
		void *delta;
		size_t len;

		buf_reset(&base);
		treedelta_tree(&base, algo, seed);
		treedelta_vary(&target, &base, algo, seed);
		index = delta_index_new(base.data, base.len);
		if (index && target.len &&
		    !delta_create(index, target.data, target.len, 0, &delta,
				  &len)) {
			fn(ctx, &base, delta, len);
			free(delta);
		}
		delta_index_free(index);
	}
	buf_release(&base);
	buf_release(&target);
}

#endif
