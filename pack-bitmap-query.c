/* SPDX-License-Identifier: MIT */
/*
 * Queries a bitmap index. bitmap/fill.c finds objects that are not in bitmaps,
 * and bitmap/strategy.c decides whether to use the index.
 */
#include <assert.h>
#include <stdlib.h>

#include "bitmap/bit-filter.h"
#include "bitmap/fill.h"
#include "pack-bitmap.h"
#include "sys/clock.h"

void pack_bitmap_result_release(struct pack_bitmap_result *result)
{
	bitset_release(&result->packed);
	bitset_release(&result->uninteresting);
	free(result->others.items);
	*result = (struct pack_bitmap_result)PACK_BITMAP_RESULT_INIT;
}

/* The state of a query. */
struct asking {
	struct pack_bitmap_result *result;
	const struct pack_bitmap_query *query;
	const struct walk_tips *wants, *haves;
	struct bitmap_fill fill;
	/* the haves, one side of the query; kept until the end of the query */
	struct bitmap_side *haves_side;
	struct error *err;
};

/* ---- statistics, collected if query->trace is set */

static void phase_begin(struct pack_bitmap_phase *phase,
			const struct bitmap_fill *fill)
{
	if (!phase)
		return;
	*phase = (struct pack_bitmap_phase){
		.bitmaps_used = fill->bitmaps_used,
		.pseudo_merges_used = fill->pseudo_merges_used,
		.commits_walked = fill->commits_walked,
		.objects_walked = fill->objects_walked,
		.objects = bitset_count(&fill->packed) +
			   bitset_count(&fill->outside),
		.ns = sys_clock_ns(),
	};
}

static void phase_end(struct pack_bitmap_phase *phase,
		      const struct bitmap_fill *fill)
{
	if (!phase)
		return;
	phase->ns = sys_clock_ns() - phase->ns;
	phase->objects = bitset_count(&fill->packed) +
			 bitset_count(&fill->outside) - phase->objects;
	phase->bitmaps_used = fill->bitmaps_used - phase->bitmaps_used;
	phase->pseudo_merges_used = fill->pseudo_merges_used -
				    phase->pseudo_merges_used;
	phase->commits_walked = fill->commits_walked - phase->commits_walked;
	phase->objects_walked = fill->objects_walked - phase->objects_walked;
}

/* ---- the two sides */

static bool has_tips(const struct walk_tips *tips)
{
	return tips->commit_nr || tips->others.nr;
}

/*
 * Returns whether the tips include a tree or a blob; tags do not count. If the
 * wants or the haves include one, the query is exact, without a boundary
 * traversal.
 */
static bool has_trees(const struct walk_tips *tips)
{
	for (size_t i = 0; i < tips->others.nr; i++)
		if (tips->others.items[i].type != OBJ_TAG)
			return true;
	return false;
}

static bool is_boundary_enough(const struct asking *a)
{
	return a->query->inexact && !has_trees(a->wants) &&
	       !has_trees(a->haves);
}

static bool asks_for_trees(const struct asking *a)
{
	const struct filter *filter = a->query->filter;

	return !a->query->commits_only &&
	       (!filter || filter_takes_type(filter, OBJ_TREE) ||
		filter_takes_type(filter, OBJ_BLOB));
}

/*
 * Walks the haves' commits, as far as the cost limits of the query's plan
 * (bitmap/strategy.h) allow. Returns 0 on success, 1 if the index should not be
 * used (walk instead), or a negative error code.
 */
static int walk_haves(struct asking *a, struct walk *w)
{
	struct bitmap_plan *plan = a->query->plan;

	if (!plan || plan->strategy != BITMAP_STRATEGY_AUTO ||
	    !is_boundary_enough(a))
		return bitmap_side_walk(a->haves_side, SIZE_MAX, a->err);
	plan->no_trees = !asks_for_trees(a);
	return bitmap_plan_haves(plan, a->haves_side, w, a->wants, a->haves,
				 a->err);
}

static int add_haves(struct asking *a, struct walk *w)
{
	int ret = bitmap_side_start(&a->haves_side, &a->fill, a->haves, NULL,
				    a->err);

	if (!ret)
		ret = walk_haves(a, w);
	if (!ret && !a->query->commits_only)
		ret = bitmap_side_finish(a->haves_side, !is_boundary_enough(a),
					 a->err);
	if (!ret && bitset_copy(&a->result->uninteresting, &a->fill.packed) < 0)
		ret = error_nomem(a->err);
	return ret;
}

static int add_wants(struct asking *a)
{
	struct bitmap_side *side;
	int ret = bitmap_side_start(&side, &a->fill, a->wants,
				    &a->result->others, a->err);

	if (!ret)
		ret = bitmap_side_walk(side, SIZE_MAX, a->err);
	if (!ret && !a->query->commits_only)
		ret = bitmap_side_finish(side, true, a->err);
	bitmap_side_free(side);
	return ret;
}

/*
 * The query has walked from the haves back to commits with bitmaps. Reads trees
 * of the commits that this walk has visited. Objects of the result that are in
 * these trees are marked as uninteresting: the client has them. Returns 0 or a
 * negative error code.
 */
static int settle(struct asking *a)
{
	const uint32_t *walked;
	size_t nr;

	if (!a->haves_side || !asks_for_trees(a) || !is_boundary_enough(a))
		return 0;
	walked = bitmap_side_walked(a->haves_side, &nr);
	return bitmap_boundary_settle(&a->result->uninteresting, &a->fill,
				      walked, nr, a->err);
}

static int ask(struct asking *a, struct walk *w)
{
	struct pack_bitmap_trace *trace = a->result->trace;
	struct pack_bitmap_phase *haves = trace ? &trace->haves : NULL;
	struct pack_bitmap_phase *wants = trace ? &trace->wants : NULL;
	int ret = 0;

	/*
	 * If a want is a tree or a blob, do not use the filter for the haves:
	 * all objects of the haves are found. The reason: a wanted tree or blob
	 * is in the result even if it does not pass the filter, unless the
	 * haves contain it. So the haves must be searched for it.
	 *
	 * If no want is a tree or a blob, use the filter for the haves too.
	 * Objects that do not pass the filter are not in the result, so it does
	 * not matter whether the haves contain them.
	 */
	a->fill.filter = has_trees(a->wants) ? NULL : a->query->filter;
	phase_begin(haves, &a->fill);
	if (has_tips(a->haves))
		ret = add_haves(a, w);
	phase_end(haves, &a->fill);
	a->fill.filter = a->query->filter;
	phase_begin(wants, &a->fill);
	if (!ret)
		ret = add_wants(a);
	if (!ret)
		ret = settle(a);
	phase_end(wants, &a->fill);
	return ret;
}

static int take_result(struct asking *a, const struct pack_bitmap *pb,
		       struct walk *w)
{
	struct pack_bitmap_result *result = a->result;
	const struct bitmap_filter bf = {
		.file = &pb->file,
		.space = pb->space,
		.w = w,
		.filter = a->query->filter,
		.wants = a->wants,
		.filter_wants = a->query->filter_wants,
	};

	result->packed = a->fill.packed;
	a->fill.packed = (struct bitset)BITSET_INIT;
	bitset_andnot(&result->packed, &result->uninteresting);
	result->bitmaps_used = a->fill.bitmaps_used;
	result->pseudo_merges_used = a->fill.pseudo_merges_used;
	result->commits_walked = a->fill.commits_walked;
	if (filter_is_empty(a->query->filter))
		return 0;
	bitmap_filter_undecided(bf.file, bf.filter, &result->uninteresting);
	return bitmap_filter_apply(&bf, &result->packed, &result->others,
				   a->err);
}

/* Verifies the checksums of a small index. Returns 0 or ERR_CORRUPT. */
static int prove_small(const struct pack_bitmap *pb, struct error *err)
{
	return pb->file.object_nr <= PACK_REV_SMALL_NR
		       ? pack_bitmap_prove(pb, err)
		       : 0;
}

int pack_bitmap_query(struct pack_bitmap_result *result,
		      const struct pack_bitmap *pb, struct walk *w,
		      const struct walk_tips *wants,
		      const struct walk_tips *haves,
		      const struct pack_bitmap_query *query, struct error *err)
{
	static const struct pack_bitmap_query exact = {0};
	struct asking a = {
		.result = result,
		.query = query ? query : &exact,
		.wants = wants,
		.haves = haves,
		.err = err,
	};
	int ret;

	assert(!w->shallow.nr && !w->odb->replaced);
	if (a.query->plan && bitmap_plan_start(a.query->plan, has_tips(haves)))
		return 1;
	ret = bitmap_fill_init(&a.fill, &pb->file, pb->space, w, err);
	a.fill.trace = result->trace ? &result->trace->used : NULL;
	if (!ret)
		ret = ask(&a, w);
	if (!ret)
		ret = take_result(&a, pb, w);
	bitmap_side_free(a.haves_side);
	bitmap_fill_release(&a.fill);
	return ret ? ret : prove_small(pb, err);
}

/* Finds the row of a commit's bitmap. Returns false if there is none. */
static bool find_row(const struct pack_bitmap *pb, struct walk *w,
		     uint32_t commit_nr, uint32_t *row)
{
	uint32_t obj_pos = w->history.commits[commit_nr].obj_pos, idx_pos;

	return bitmap_space_idx(&pb->space, &w->space, obj_pos, &idx_pos) &&
	       bitmap_file_find(&pb->file, idx_pos, row);
}

static int or_row(struct bitset *set, const struct pack_bitmap *pb,
		  uint32_t row, struct error *err)
{
	struct bitset scratch = BITSET_INIT;
	int ret = prove_small(pb, err);

	if (!ret)
		ret = bitmap_file_or(set, &pb->file, row, &scratch, err);
	bitset_release(&scratch);
	return ret < 0 ? ret : 1;
}

int pack_bitmap_or_ancestor(struct bitset *set, const struct pack_bitmap *pb,
			    struct walk *w, uint32_t commit_nr, size_t most,
			    struct error *err)
{
	struct history *h = &w->history;
	uint32_t row;

	assert(!w->shallow.nr && !w->odb->replaced);
	for (size_t i = 0; i < most; i++) {
		int ret;

		if (find_row(pb, w, commit_nr, &row))
			return or_row(set, pb, row, err);
		ret = history_parse(h, commit_nr, err);
		if (ret < 0)
			return ret;
		if (h->commits[commit_nr].missing ||
		    !h->commits[commit_nr].parent_nr)
			return 0;
		commit_nr = history_parents(h, commit_nr)[0];
	}
	return 0;
}
