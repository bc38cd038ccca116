/* SPDX-License-Identifier: MIT */
/* Applies deltas of trees as sequences of entries. */
#include <string.h>

#include "base/mem.h"
#include "pack/delta.h"
#include "trees/tree-splice.h"

/*
 * Maximum length of an entry that is assembled from pieces. Each new piece
 * parses the entry from its start again, so long entries would be slow. For a
 * longer entry the caller must use the plain parser.
 */
#define PART_LEN_MAX ((size_t)64 << 10)

void tree_splice_init(struct tree_splice *s, const struct tree_splice_ops *ops,
		      void *ctx, enum hash_algo algo)
{
	*s = (struct tree_splice){
		.ops = ops,
		.ctx = ctx,
		.algo = algo,
		.part = BUF_INIT,
	};
}

void tree_splice_release(struct tree_splice *s)
{
	free(s->starts);
	buf_release(&s->part);
}

static int reserve(struct tree_splice *s, size_t nr)
{
	return mem_grow(&s->starts, &s->alloc, s->nr + nr + 1,
			sizeof(*s->starts));
}

static int start(struct tree_splice *s)
{
	s->nr = 0;
	s->at = 0;
	buf_reset(&s->part);
	if (!s->with_starts)
		return 0;
	if (reserve(s, 0) < 0)
		return ERR_NOMEM;
	s->starts[0] = 0;
	return 0;
}

/* Reports all complete entries at the front of *c, and moves *c past them. */
static int take_entries(struct tree_splice *s, struct cursor *c)
{
	struct tree_entry entry;

	while (tree_next(&entry, c, s->algo) > 0) {
		s->at += (uint32_t)entry.raw_len;
		if (s->ops->take_new(s->ctx, &entry) < 0)
			return ERR_NOMEM;
		if (!s->with_starts)
			continue;
		if (reserve(s, 1) < 0)
			return ERR_NOMEM;
		s->starts[++s->nr] = s->at;
	}
	return 0;
}

int tree_splice_whole(struct tree_splice *s, const uint8_t *bytes, size_t len)
{
	struct cursor c = cursor_make(bytes, len);

	if (len >= UINT32_MAX)
		return ERR_UNSUPPORTED;
	if (start(s) < 0 || take_entries(s, &c) < 0)
		return ERR_NOMEM;
	return cursor_left(&c) ? ERR_CORRUPT : 0;
}

/*
 * Takes the next bytes of the new tree, which may begin or end in the middle of
 * an entry.
 */
static int take_bytes(struct tree_splice *s, const uint8_t *bytes, size_t len)
{
	struct cursor c;
	size_t left;

	if (buf_append(&s->part, bytes, len) < 0)
		return ERR_NOMEM;
	c = cursor_make(s->part.data, s->part.len);
	if (take_entries(s, &c) < 0)
		return ERR_NOMEM;
	left = cursor_left(&c);
	if (left > PART_LEN_MAX)
		return ERR_CORRUPT;
	if (left)
		memmove(s->part.data, c.p, left);
	buf_set_len(&s->part, left);
	return 0;
}

/*
 * Returns the first entry of the base that begins at `off` or later, or the
 * number of entries if there is none. The search starts at entry `near`.
 */
static uint32_t entry_from(const struct tree_starts *base, uint32_t near,
			   uint32_t off)
{
	const uint32_t *at = base->starts;
	uint32_t lo = near, hi = near, step = 1;

	/*
	 * After both loops, at[hi] >= off and at[lo - 1] < off. So the first
	 * entry that begins at `off` or later is in [lo, hi].
	 */
	while (lo && at[lo - 1] >= off) {
		hi = lo - 1;
		lo = lo > step ? lo - step : 0;
		step *= 2;
	}
	while (at[hi] < off) {
		lo = hi + 1;
		hi = base->nr - hi > step ? hi + step : base->nr;
		step *= 2;
	}
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (at[mid] < off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/*
 * Takes the bytes [off, end) of the base as bytes of the new tree. These bytes
 * are a part of the base's entry i.
 */
static int take_piece(struct tree_splice *s, const struct tree_starts *base,
		      uint32_t i, uint32_t off, uint32_t end)
{
	return take_bytes(
		s, s->ops->old_bytes(s->ctx, i) + (off - base->starts[i]),
		end - off);
}

/*
 * Copies `nr` numbers, and adds `shift` to each. The inner loop always handles
 * 8 numbers, so that compilers use vector instructions.
 */
static void copy_shifted(uint32_t *restrict to, const uint32_t *restrict from,
			 uint32_t nr, uint32_t shift)
{
	uint32_t i = 0;

	for (; i + 8 <= nr; i += 8)
		for (uint32_t k = 0; k < 8; k++)
			to[i + k] = from[i + k] + shift;
	for (; i < nr; i++)
		to[i] = from[i] + shift;
}

/* Takes the entries [first, last) of the base into the new tree unchanged. */
static int take_range(struct tree_splice *s, const struct tree_starts *base,
		      uint32_t first, uint32_t last)
{
	uint32_t nr = last - first;

	s->at += base->starts[last] - base->starts[first];
	if (!nr)
		return 0;
	if (s->ops->take_old(s->ctx, first, last) < 0)
		return ERR_NOMEM;
	if (!s->with_starts)
		return 0;
	if (reserve(s, nr) < 0)
		return ERR_NOMEM;
	copy_shifted(s->starts + s->nr + 1, base->starts + first + 1, nr,
		     s->at - base->starts[last]);
	s->nr += nr;
	return 0;
}

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* ---- reading the instructions of a delta */

/*
 * An instruction of a delta: an insertion, or a copy and the entries of the
 * base that the copied range covers.
 */
struct splice_op {
	const uint8_t *insert; /* NULL: a copy */
	uint32_t off, len;
	/*
	 * number of the first entry of the base that begins in the copied range
	 */
	uint32_t first;
	/*
	 * number of the first entry of the base that begins after the copied
	 * range
	 */
	uint32_t last;
};

/* Number of delta instructions that are processed together. */
#define OPS_TOGETHER 32

/* The state of reading a delta: the position in the delta, and in its base. */
struct splice_run {
	const struct tree_starts *base;
	struct cursor c;
	/*
	 * average number of entries for each byte of the base, times 2^32; used
	 * to guess the last entry that a copy covers
	 */
	uint64_t density;
	/* number of an entry of the base near the range of the next copy */
	uint32_t near;
};

/*
 * Finds the entries of the base that a copy covers. The entries at both ends of
 * the copied range may be covered only in part. The bytes of these entries will
 * be read, and are at random places in memory, so they are prefetched.
 */
static void locate(struct tree_splice *s, struct splice_run *r,
		   struct splice_op *op)
{
	const uint32_t *starts = r->base->starts;
	uint32_t end = op->off + op->len, guess;

	op->first = entry_from(r->base, r->near, op->off);
	guess = op->first + (uint32_t)(op->len * r->density >> 32);
	op->last = entry_from(r->base, min_u32(guess, r->base->nr), end);
	if (starts[op->first] > op->off)
		__builtin_prefetch(s->ops->old_bytes(s->ctx, op->first - 1));
	if (starts[op->last] > end)
		__builtin_prefetch(s->ops->old_bytes(s->ctx, op->last - 1));
	r->near = op->last;
}

/*
 * Reads the next delta instructions into `ops`. Returns their number, or a
 * negative error code.
 */
static int take_ops(struct tree_splice *s, struct splice_run *r,
		    struct splice_op *ops)
{
	uint32_t base_len = r->base->starts[r->base->nr];
	struct delta_op op;
	int nr = 0, more = 0;

	while (nr < OPS_TOGETHER &&
	       (more = delta_next(&op, &r->c, base_len)) > 0) {
		if (op.len >= UINT32_MAX)
			return ERR_UNSUPPORTED;
		ops[nr].insert = op.insert;
		ops[nr].off = op.insert ? 0 : (uint32_t)op.off;
		ops[nr].len = (uint32_t)op.len;
		if (!op.insert)
			locate(s, r, &ops[nr]);
		nr++;
	}
	return more < 0 ? more : nr;
}

/*
 * Adds to the new tree the range of the base that a copy instruction copies. An
 * entry of the base that is completely in the range, and is also an entry of
 * the new tree, is added by its number in the base. It need not be parsed. The
 * rest of the range, usually parts of entries at both ends, is added as bytes,
 * which are parsed later.
 */
static int take_copy(struct tree_splice *s, const struct tree_starts *base,
		     const struct splice_op *op)
{
	const uint32_t *starts = base->starts;
	uint32_t i = op->first, last = op->last, end = op->off + op->len;
	int ret = 0;

	if (starts[i] > op->off)
		ret = take_piece(s, base, i - 1, op->off,
				 min_u32(starts[i], end));
	/*
	 * The range that this instruction copies may begin in the middle of an
	 * entry of the new tree: s->part has the first bytes of this entry. In
	 * this case an entry of the base is not an entry of the new tree,
	 * because it begins at another byte. So it cannot be added by its
	 * number. Its bytes are added instead, and are parsed as bytes of the
	 * new tree. The loop adds one entry of the base after the other in this
	 * way. It ends when an entry of the new tree ends at the same byte as
	 * an entry of the base (s->part is empty). The next entries of the base
	 * are entries of the new tree, too.
	 */
	for (; !ret && s->part.len && starts[i] < end; i++)
		ret = take_piece(s, base, i, starts[i],
				 min_u32(starts[i + 1], end));
	if (ret < 0 || starts[i] >= end)
		return ret;
	if (starts[last] > end)
		last--;
	if (take_range(s, base, i, last) < 0)
		return ERR_NOMEM;
	if (starts[last] == end)
		return 0;
	return take_piece(s, base, last, starts[last], end);
}

static int take_op(struct tree_splice *s, const struct tree_starts *base,
		   const struct splice_op *op)
{
	if (op->len >= UINT32_MAX - s->at - s->part.len)
		return ERR_UNSUPPORTED;
	if (op->insert)
		return take_bytes(s, op->insert, op->len);
	return take_copy(s, base, op);
}

int tree_splice_delta(struct tree_splice *s, const struct tree_starts *base,
		      const uint8_t *delta, size_t delta_len)
{
	struct splice_run r = {.base = base,
			       .c = cursor_make(delta, delta_len)};
	uint32_t base_len = base->starts[base->nr];
	struct splice_op ops[OPS_TOGETHER];
	uint64_t base_size, size;
	size_t header_len;
	int nr;

	if (delta_sizes(delta, delta_len, &base_size, &size, &header_len) < 0 ||
	    base_size != base_len)
		return ERR_CORRUPT;
	if (start(s) < 0)
		return ERR_NOMEM;
	r.c.p += header_len;
	r.density = ((uint64_t)base->nr << 32) / ((uint64_t)base_len + 1);
	while ((nr = take_ops(s, &r, ops)) > 0) {
		for (int i = 0; i < nr; i++) {
			int ret = take_op(s, base, &ops[i]);

			if (ret < 0)
				return ret;
		}
	}
	if (nr < 0)
		return nr;
	return s->part.len || s->at != size ? ERR_CORRUPT : 0;
}

int tree_splice_error(int code, struct objspace *space, uint32_t obj_pos,
		      struct error *err)
{
	if (code == ERR_NOMEM)
		return error_nomem(err);
	return objspace_error(space, obj_pos, code,
			      code == ERR_UNSUPPORTED ? "tree too large"
						      : "malformed tree",
			      err);
}
