/* SPDX-License-Identifier: MIT */
/*
 * Finds the objects of a request, with the bitmap index if possible, otherwise
 * by a walk. The result says why the index was not used. All commands that can
 * use both call the functions of this file:
 *
 *   pack_bitmap_answer_open()  opens the index, unless the request needs a walk
 *   pack_bitmap_try()          queries the index; the caller walks if needed
 *   pack_bitmap_answer()       queries the index, or walks
 *
 * The exact result has the objects that the wants reach, without those that the
 * haves reach. The index finds this set faster, because a walk must visit all
 * objects that the haves reach. If the caller also accepts some objects that
 * the haves reach, a walk may be cheaper. Then the index or the walk is used,
 * whichever has the lower estimated cost.
 */
#ifndef PACK_BITMAP_ANSWER_H
#define PACK_BITMAP_ANSWER_H

#include <stdbool.h>

#include "base/error.h"
#include "pack-bitmap.h"
#include "sys/progress.h"
#include "walk/filter.h"
#include "walk/walk.h"

/*
 * Returns a constant string that says why bitmaps cannot answer a request in
 * this walk with this filter. Returns NULL if they can.
 */
const char *pack_bitmap_answer_unfit(const struct walk *w,
				     const struct filter *filter);

/*
 * Opens the bitmap index, unless pack_bitmap_answer_unfit() says that requests
 * with this filter need a walk. Returns 1 with *out owned by the caller.
 * Returns 0 with *out NULL and *reason set to a constant string, or a negative
 * error code. If an index was skipped, *err has a warning; see
 * pack_bitmap_open().
 */
int pack_bitmap_answer_open(struct pack_bitmap **out, const char **reason,
			    const struct walk *w, const struct filter *filter,
			    struct error *err);

/* A request for objects. All pointers are borrowed. */
struct pack_bitmap_ask {
	const struct pack_bitmap *pb; /* NULL: walk */
	/* with pb NULL: reason why there is no index */
	const char *no_bitmap;
	const struct walk_tips *wants, *haves;
	const struct filter *filter; /* may be NULL */
	/* whether the filter also removes the wants themselves */
	bool filter_wants;
	/* true: only commits are needed; not allowed with a filter */
	bool commits_only;
	/*
	 * true: the index answers even if a walk costs less. If the index
	 * cannot answer, pack_bitmap_answer() fails.
	 */
	bool must_use_bitmap;
	/*
	 * true: the result may have objects that the haves reach. For the
	 * result of the index, see `inexact` of struct pack_bitmap_query. If a
	 * walk answers, only these objects are left out: commits that the haves
	 * reach, and objects in the trees of the boundary.
	 */
	bool inexact;
	/*
	 * Contains the strategy to use. Receives the estimated costs, and the
	 * reason why the index or a walk was chosen. NULL works like
	 * BITMAP_STRATEGY_AUTO: the index is used, but with `inexact` a walk is
	 * used if its estimated cost is lower.
	 */
	struct bitmap_plan *plan;
	/*
	 * Called when the index has answered, so that the caller can verify the
	 * index before the answer is used. Returns 0 to accept the answer.
	 * Returns a negative error code with *why set if the index is broken,
	 * or with only *err set to stop the request. NULL: all answers are
	 * accepted.
	 */
	int (*confirm)(void *ctx, struct error *why, struct error *err);
	void *ctx;
	/* number of threads of a walk; 0: as many as the walk's history uses */
	unsigned threads;
	const struct progress_out *progress; /* may be NULL */
};

/*
 * Queries the index for a request. Returns 1 if the index answered: *result has
 * the objects. Returns 0 if the caller must walk. *reason is then set, with one
 * of these codes:
 *
 *   ERR_UNSUPPORTED  there is no index, the index cannot answer this request,
 *                    or a walk costs less
 *   ERR_CORRUPT      the index is broken; the caller should warn
 *   ERR_MISSING      an object is missing. Perhaps only haves reach the object:
 *                    the walk decides whether the request fails
 *   any other code   reading failed; the walk may use other copies of objects
 *
 * Returns a negative error code with *err set if memory ran out, the request
 * was cancelled, or ask->confirm() stopped the request.
 *
 * *result and *reason must be initialised. The caller releases *result in any
 * case.
 */
int pack_bitmap_try(struct pack_bitmap_result *result, struct walk *w,
		    const struct pack_bitmap_ask *ask, struct error *reason,
		    struct error *err);

/* The objects of a request, in `result` or in `walked`. */
struct pack_bitmap_answer {
	bool by_bitmap;
	/*
	 * The objects, if by_bitmap is set. If the request had commits_only
	 * set, only the commits in the result are right. The result may then
	 * also have some trees, blobs and tags. The caller must ignore these
	 * objects.
	 */
	struct pack_bitmap_result result;
	/* statistics of the query; all zero after a walk */
	struct pack_bitmap_trace trace;
	/* owned: the objects, if they were found by walking */
	struct walk_items walked;
	/* number of commits that were walked without bitmaps */
	uint32_t commits_walked;
	/* why the index was not used; if it was used, code 0 */
	struct error reason;
};

/*
 * Answers a request: calls pack_bitmap_try(), and walks if the index does not
 * answer. Returns 0, ERR_MISSING if an object is missing, ERR_UNSUPPORTED with
 * the reason if must_use_bitmap is set and the index cannot answer, or another
 * negative error code. *answer need not be initialised; the caller releases it
 * in any case.
 */
int pack_bitmap_answer(struct pack_bitmap_answer *answer, struct walk *w,
		       const struct pack_bitmap_ask *ask, struct error *err);
void pack_bitmap_answer_release(struct pack_bitmap_answer *answer);

#endif
