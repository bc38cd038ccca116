/* SPDX-License-Identifier: MIT */
/* Reads the pseudo-merge section of a bitmap file. */
#include <string.h>

#include "base/bytes.h"
#include "base/cursor.h"
#include "base/mem.h"
#include "bitmap/pseudo-merge.h"

static int corrupt(const struct pseudo_merges *pm, uint64_t off,
		   const char *what, struct error *err)
{
	return error_set_at(err, ERR_CORRUPT, pm->name, off, "%s", what);
}

/*
 * Parses the parts of the pseudo-merge section, from the last to the first.
 * Returns 0 or ERR_CORRUPT.
 */
static int parse_parts(struct pseudo_merges *pm, uint64_t from, uint64_t end,
		       struct error *err)
{
	const uint8_t *footer;
	uint64_t len, to_lookup;

	if (end - from < PSEUDO_MERGE_FOOTER_LEN)
		return corrupt(pm, end, "pseudo-merges are cut short", err);
	footer = pm->bytes + end - PSEUDO_MERGE_FOOTER_LEN;
	pm->nr = load_be32(footer);
	pm->row_nr = load_be32(footer + 4);
	to_lookup = load_be64(footer + 8);
	len = load_be64(footer + 16);
	if (len > end - from || len < PSEUDO_MERGE_FOOTER_LEN ||
	    (len - PSEUDO_MERGE_FOOTER_LEN) / 8 < pm->nr)
		return corrupt(pm, end, "invalid length of pseudo-merges", err);
	pm->start = end - len;
	pm->positions = end - PSEUDO_MERGE_FOOTER_LEN - (uint64_t)pm->nr * 8;
	if (to_lookup > pm->positions - pm->start ||
	    (pm->positions - pm->start - to_lookup) / PSEUDO_MERGE_ROW_LEN <
		    pm->row_nr)
		return corrupt(pm, end, "invalid place of pseudo-merge lookup",
			       err);
	pm->lookup = pm->start + to_lookup;
	pm->extended = pm->lookup + (uint64_t)pm->row_nr * PSEUDO_MERGE_ROW_LEN;
	return 0;
}

int pseudo_merges_parse(struct pseudo_merges *pm, const void *bytes,
			uint64_t from, uint64_t end, uint32_t object_nr,
			const char *name, struct error *err)
{
	int ret;

	*pm = (struct pseudo_merges){
		.bytes = bytes,
		.name = name,
		.object_nr = object_nr,
	};
	ret = parse_parts(pm, from, end, err);
	if (ret < 0)
		memset(pm, 0, sizeof(*pm));
	return ret;
}

static uint64_t offset_of(const struct pseudo_merges *pm, uint32_t nr)
{
	return load_be64(pm->bytes + pm->positions + (uint64_t)nr * 8);
}

static int view_set(struct ewah_view *view, const struct pseudo_merges *pm,
		    struct cursor *c, struct error *err)
{
	uint64_t off = (uint64_t)(c->p - pm->bytes);

	if (ewah_view_parse(view, c, NULL) < 0)
		return corrupt(pm, off, "malformed bitmap of a pseudo-merge",
			       err);
	if ((view->bits + 63) / 64 > ((size_t)pm->object_nr + 63) / 64)
		return corrupt(pm, off, "pseudo-merge is larger than its pack",
			       err);
	return 0;
}

int pseudo_merges_view(struct pseudo_merge *merge,
		       const struct pseudo_merges *pm, uint32_t nr,
		       struct error *err)
{
	uint64_t off = offset_of(pm, nr);
	struct cursor c;
	int ret;

	if (off < pm->start || off > pm->lookup)
		return corrupt(pm, pm->positions + (uint64_t)nr * 8,
			       "position of a pseudo-merge is out of range",
			       err);
	c = cursor_make(pm->bytes + off, (size_t)(pm->lookup - off));
	ret = view_set(&merge->commits, pm, &c, err);
	return ret < 0 ? ret : view_set(&merge->objects, pm, &c, err);
}

static const uint8_t *row_at(const struct pseudo_merges *pm, uint32_t row)
{
	return pm->bytes + pm->lookup + (uint64_t)row * PSEUDO_MERGE_ROW_LEN;
}

/*
 * Returns the lookup row of a commit, or NULL if the commit is in no
 * pseudo-merge.
 */
static const uint8_t *find_row(const struct pseudo_merges *pm, uint32_t bit_pos)
{
	uint32_t low = 0, high = pm->row_nr;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		const uint8_t *row = row_at(pm, mid);

		if (load_be32(row) == bit_pos)
			return row;
		if (load_be32(row) < bit_pos)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

/*
 * Calls `fn` for the pseudo-merge at a file offset. The number of the
 * pseudo-merge is found by a binary search, since the positions ascend.
 */
static int visit(const struct pseudo_merges *pm, uint64_t off,
		 int (*fn)(void *ctx, uint32_t nr), void *ctx,
		 struct error *err)
{
	uint32_t low = 0, high = pm->nr;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		uint64_t at = offset_of(pm, mid);

		if (at == off)
			return fn(ctx, mid);
		if (at < off)
			low = mid + 1;
		else
			high = mid;
	}
	return corrupt(pm, off, "no pseudo-merge begins here", err);
}

/* Calls `fn` for each pseudo-merge that an extended entry lists. */
static int visit_extended(const struct pseudo_merges *pm, uint64_t off,
			  int (*fn)(void *ctx, uint32_t nr), void *ctx,
			  struct error *err)
{
	struct cursor c;
	uint32_t nr;

	if (off < pm->extended || off > pm->positions)
		return corrupt(pm, off, "no extended pseudo-merge entry here",
			       err);
	c = cursor_make(pm->bytes + off, (size_t)(pm->positions - off));
	if (!cursor_be32(&c, &nr) || cursor_left(&c) / 8 < nr)
		return corrupt(pm, off,
			       "extended pseudo-merge entry is cut short", err);
	for (uint32_t i = 0; i < nr; i++) {
		const uint8_t *at = c.p + (size_t)i * 8;
		int ret;

		if (i && load_be64(at) == load_be64(at - 8))
			continue;
		ret = visit(pm, load_be64(at), fn, ctx, err);
		if (ret)
			return ret;
	}
	return 0;
}

int pseudo_merges_each_of(const struct pseudo_merges *pm, uint32_t bit_pos,
			  int (*fn)(void *ctx, uint32_t nr), void *ctx,
			  struct error *err)
{
	const uint8_t *row = find_row(pm, bit_pos);
	uint64_t off;

	if (!row)
		return 0;
	off = load_be64(row + 4);
	if (off & PSEUDO_MERGE_EXTENDED)
		return visit_extended(pm, off & ~PSEUDO_MERGE_EXTENDED, fn, ctx,
				      err);
	return visit(pm, off, fn, ctx, err);
}

struct verify {
	const struct pseudo_merges *pm;
	uint32_t bit_pos;
	/*
	 * Owned array, indexed by the number of a pseudo-merge. A row of the
	 * lookup table belongs to one commit (bit_pos), and lists the
	 * pseudo-merges that have this commit. The element is the bit_pos of
	 * the last visited row that lists the pseudo-merge. So if a row lists a
	 * pseudo-merge twice, the pair is counted only once.
	 */
	uint32_t *seen_for;
	/* number of pairs (commit, pseudo-merge) in all rows */
	uint64_t member_nr;
	struct error *err;
};

static int verify_member(void *ctx, uint32_t nr)
{
	struct verify *v = ctx;
	struct pseudo_merge merge;
	int ret = pseudo_merges_view(&merge, v->pm, nr, v->err);

	if (ret < 0)
		return ret;
	if (!ewah_test(&merge.commits, v->bit_pos))
		return corrupt(v->pm, offset_of(v->pm, nr),
			       "pseudo-merge lacks a commit of the lookup",
			       v->err);
	v->member_nr += v->seen_for[nr] != v->bit_pos;
	v->seen_for[nr] = v->bit_pos;
	return 0;
}

static int verify_rows(struct verify *v)
{
	const struct pseudo_merges *pm = v->pm;

	for (uint32_t row = 0; row < pm->row_nr; row++) {
		uint32_t before = v->bit_pos;
		int ret;

		v->bit_pos = load_be32(row_at(pm, row));
		if (v->bit_pos >= pm->object_nr ||
		    (row && v->bit_pos <= before))
			return corrupt(pm, pm->lookup,
				       "pseudo-merge lookup is out of order",
				       v->err);
		ret = pseudo_merges_each_of(pm, v->bit_pos, verify_member, v,
					    v->err);
		if (ret < 0)
			return ret;
	}
	return 0;
}

int pseudo_merges_verify(const struct pseudo_merges *pm, struct error *err)
{
	struct verify v = {
		.pm = pm,
		.seen_for = mem_alloc(pm->nr, sizeof(*v.seen_for)),
		.err = err,
	};
	uint64_t member_nr = 0;
	int ret;

	if (!v.seen_for)
		return error_nomem(err);
	memset(v.seen_for, 0xff, pm->nr * sizeof(*v.seen_for));
	ret = verify_rows(&v);
	free(v.seen_for);
	for (uint32_t nr = 0; nr < pm->nr && !ret; nr++) {
		struct pseudo_merge merge;

		if (nr && offset_of(pm, nr) <= offset_of(pm, nr - 1))
			return corrupt(pm, pm->positions,
				       "pseudo-merges are out of order", err);
		ret = pseudo_merges_view(&merge, pm, nr, err);
		if (!ret)
			member_nr += ewah_count(&merge.commits);
	}
	if (!ret && member_nr != v.member_nr)
		ret = corrupt(pm, pm->lookup,
			      "pseudo-merges have commits without a lookup row",
			      err);
	return ret;
}
