/* SPDX-License-Identifier: MIT */
/* Answers a request for objects from the bitmap index, or by a walk. */
#include <stdlib.h>
#include <string.h>

#include "bitmap/bit-filter.h"
#include "pack-bitmap-answer.h"

const char *pack_bitmap_answer_unfit(const struct walk *w,
				     const struct filter *filter)
{
	/* Bitmaps ignore the shallow boundary, so they cannot answer. */
	if (w->shallow.nr)
		return "the repository is shallow";
	/*
	 * Bitmaps ignore replacement objects, so they cannot answer if there
	 * are any.
	 */
	if (w->odb->replaced)
		return "objects are replaced";
	if (!bitmap_filter_can(filter))
		return "the filter needs a walk";
	return NULL;
}

int pack_bitmap_answer_open(struct pack_bitmap **out, const char **reason,
			    const struct walk *w, const struct filter *filter,
			    struct error *err)
{
	int ret;

	*out = NULL;
	*reason = pack_bitmap_answer_unfit(w, filter);
	if (*reason)
		return 0;
	ret = pack_bitmap_open(out, w->odb, err);
	if (!ret)
		*reason = "there is no bitmap index";
	return ret;
}

/*
 * Returns why the index cannot answer the request. Returns NULL if the index
 * can be queried.
 */
static const char *why_not(const struct walk *w,
			   const struct pack_bitmap_ask *ask)
{
	if (ask->pb)
		return pack_bitmap_answer_unfit(w, ask->filter);
	return ask->no_bitmap ? ask->no_bitmap : "there is no bitmap index";
}

/*
 * Queries the index. If the index answers, ask->confirm may refuse the result.
 * Returns 0 if answered, 1 if the index should not be used (walk instead), or a
 * negative error code.
 */
static int query(struct pack_bitmap_result *result, struct bitmap_plan *plan,
		 struct walk *w, const struct pack_bitmap_ask *ask,
		 struct error *why, struct error *err)
{
	const struct pack_bitmap_query query = {
		.filter = ask->filter,
		.filter_wants = ask->filter_wants,
		.inexact = ask->inexact,
		.commits_only = ask->commits_only,
		.plan = plan,
	};
	int ret = pack_bitmap_query(result, ask->pb, w, ask->wants, ask->haves,
				    &query, why);

	if (!ret && ask->confirm)
		ret = ask->confirm(ask->ctx, why, err);
	return ret;
}

int pack_bitmap_try(struct pack_bitmap_result *result, struct walk *w,
		    const struct pack_bitmap_ask *ask, struct error *reason,
		    struct error *err)
{
	struct bitmap_plan automatic = {.strategy = BITMAP_STRATEGY_AUTO};
	struct bitmap_plan *plan = ask->plan ? ask->plan : &automatic;
	const char *unfit = why_not(w, ask);
	int ret;

	if (unfit) {
		error_set(reason, ERR_UNSUPPORTED, "%s", unfit);
		return 0;
	}
	ret = query(result, ask->must_use_bitmap ? NULL : plan, w, ask, reason,
		    err);
	if (!ret)
		return 1;
	pack_bitmap_result_release(result);
	if (ret == ERR_NOMEM)
		return error_nomem(err);
	if (ret == ERR_CANCELLED && reason->code)
		return error_set(err, ret, "%s", reason->msg);
	if (ret < 0)
		return reason->code ? 0 : ret;
	error_set(reason, ERR_UNSUPPORTED, "%s", plan->reason);
	return 0;
}

/* ---- walking */

static int add_commits(struct pack_bitmap_answer *answer, const struct walk *w,
		       const struct revwalk_result *revs)
{
	for (size_t i = 0; i < revs->nr; i++) {
		uint32_t pos = w->history.commits[revs->commits[i]].obj_pos;

		if (walk_items_append(&answer->walked, pos, OBJ_COMMIT, 0) < 0)
			return ERR_NOMEM;
	}
	return 0;
}

/* Moves the result of a walk into the answer. Returns 0 or ERR_NOMEM. */
static int take(struct pack_bitmap_answer *answer, const struct walk *w,
		struct walk_result *found)
{
	answer->walked = found->objects;
	found->objects = (struct walk_items){0};
	return add_commits(answer, w, &found->revs);
}

/*
 * Adds all objects that the haves reach to `uninteresting` (indexed by
 * obj_pos).
 */
static int mark_uninteresting(struct bitset *uninteresting, struct walk *w,
			      const struct pack_bitmap_ask *ask,
			      struct error *err)
{
	struct walk_tips none = WALK_TIPS_INIT;
	struct walk_result found = WALK_RESULT_INIT;
	struct walk_options options = {
		.objects = true,
		.set_only = true,
		.threads = ask->threads,
		.progress = ask->progress,
	};
	int ret = walk_enumerate(&found, w, ask->haves, &none, &options, err);

	if (!ret && bitset_grow(uninteresting, objspace_end(&w->space)) < 0)
		ret = error_nomem(err);
	for (size_t i = 0; i < found.revs.nr && !ret; i++) {
		uint32_t c = found.revs.commits[i];

		bitset_set(uninteresting, w->history.commits[c].obj_pos);
	}
	for (size_t i = 0; i < found.objects.nr && !ret; i++)
		bitset_set(uninteresting, found.objects.items[i].obj_pos);
	walk_result_release(&found);
	return ret;
}

static void drop(struct walk_items *items, const struct bitset *uninteresting)
{
	size_t kept = 0;

	for (size_t i = 0; i < items->nr; i++)
		if (!bitset_get(uninteresting, items->items[i].obj_pos))
			items->items[kept++] = items->items[i];
	items->nr = kept;
}

/*
 * Walks all objects that the wants reach, walks all objects that the haves
 * reach, and subtracts the second set from the first. A walk that stops at the
 * haves' commits would not be exact: an old object may occur again in a wanted
 * commit.
 */
static int by_exact_walk(struct pack_bitmap_answer *answer, struct walk *w,
			 const struct pack_bitmap_ask *ask, struct error *err)
{
	struct walk_tips none = WALK_TIPS_INIT;
	struct walk_result found = WALK_RESULT_INIT;
	struct walk_options options = {
		.objects = true,
		.filter = ask->filter,
		.filter_wants = ask->filter_wants,
		.spare_nested = true,
		.threads = ask->threads,
		.progress = ask->progress,
	};
	struct bitset uninteresting = BITSET_INIT;
	int ret = mark_uninteresting(&uninteresting, w, ask, err);

	if (!ret)
		ret = walk_enumerate(&found, w, ask->wants, &none, &options,
				     err);
	if (!ret && take(answer, w, &found) < 0)
		ret = error_nomem(err);
	drop(&answer->walked, &uninteresting);
	answer->commits_walked = (uint32_t)w->history.nr;
	bitset_release(&uninteresting);
	walk_result_release(&found);
	return ret;
}

static int by_walk(struct pack_bitmap_answer *answer, struct walk *w,
		   const struct pack_bitmap_ask *ask, struct error *err)
{
	bool has_haves = ask->haves->commit_nr || ask->haves->others.nr;
	struct walk_result found = WALK_RESULT_INIT;
	struct walk_options options = {
		.objects = !ask->commits_only,
		.exclude_boundary = true,
		.exact_commits = !ask->inexact,
		.filter = ask->filter,
		.filter_wants = ask->filter_wants,
		.spare_nested = true,
		.threads = ask->threads,
		.progress = ask->progress,
	};
	int ret;

	if (has_haves && !ask->inexact && !ask->commits_only)
		return by_exact_walk(answer, w, ask, err);
	ret = walk_enumerate(&found, w, ask->wants, ask->haves, &options, err);
	if (!ret && take(answer, w, &found) < 0)
		ret = error_nomem(err);
	answer->commits_walked = (uint32_t)w->history.nr;
	walk_result_release(&found);
	return ret;
}

int pack_bitmap_answer(struct pack_bitmap_answer *answer, struct walk *w,
		       const struct pack_bitmap_ask *ask, struct error *err)
{
	int ret;

	*answer = (struct pack_bitmap_answer){
		.result = PACK_BITMAP_RESULT_INIT,
		.reason = ERROR_INIT,
	};
	if (ask->threads)
		w->history.threads = ask->threads;
	if (!w->history.meter.out)
		history_poll(&w->history, ask->progress);
	answer->result.trace = &answer->trace;
	ret = pack_bitmap_try(&answer->result, w, ask, &answer->reason, err);
	answer->by_bitmap = ret > 0;
	answer->commits_walked = answer->result.commits_walked;
	if (ret)
		return ret < 0 ? ret : 0;
	if (ask->must_use_bitmap)
		return error_set(err, ERR_UNSUPPORTED,
				 "no bitmaps can be used: %s",
				 answer->reason.msg);
	return by_walk(answer, w, ask, err);
}

void pack_bitmap_answer_release(struct pack_bitmap_answer *answer)
{
	pack_bitmap_result_release(&answer->result);
	bitmap_trace_release(&answer->trace.used);
	free(answer->walked.items);
	answer->walked = (struct walk_items){0};
}
