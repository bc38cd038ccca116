/* SPDX-License-Identifier: MIT */
/*
 * Answers a request by the bitmap index if possible, otherwise by walking, and
 * tells why.
 *
 * Both ways find the same objects: those that the wants reach and the haves do
 * not. For an exact result a walk must visit all objects behind the haves. If
 * the caller accepts extra objects in the result, the way with the lower
 * estimated cost is used.
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
 * Returns why bitmaps cannot answer a request in this walk with this filter, as
 * a constant string. Returns NULL if they can.
 */
const char *pack_bitmap_answer_unfit(const struct walk *w,
				     const struct filter *filter);

/* A request. All pointers are borrowed. */
struct pack_bitmap_ask {
	const struct pack_bitmap *pb; /* NULL: walk, */
	const char *no_bitmap;        /* and this is the reason */
	const struct walk_tips *wants, *haves;
	const struct filter *filter; /* may be NULL */
	/* the filter applies to the wants themselves, too */
	bool filter_wants;
	/* requires that there is no filter */
	bool commits_only;
	bool must_use_bitmap; /* fail instead of walking */
	/*
	 * exclude only objects of the haves that are easily found: for an index
	 * see pack_bitmap_query(); a walk excludes commits and the boundary's
	 * trees
	 */
	bool inexact;
	/* 0: those of the walk's history */
	unsigned threads;
	const struct progress_out *progress; /* may be NULL */
};

/* Either `result` or `walked` contains the objects. */
struct pack_bitmap_answer {
	bool by_bitmap;
	/*
	 * by bitmap; with commits_only it contains other types too, which are
	 * meaningless
	 */
	struct pack_bitmap_result result;
	/* all zero if found by walking */
	struct pack_bitmap_trace trace;
	struct walk_items walked; /* owned: by walking */
	/* by either way, outside of bitmaps */
	uint32_t commits_walked;
	/* why the index was not used; code 0: it was used */
	struct error reason;
};

/*
 * Answers a request. An index that turns out to be broken, or would need a
 * missing object, is ignored. Returns 0, ERR_MISSING if an object is missing,
 * ERR_UNSUPPORTED with the reason if must_use_bitmap is impossible, or another
 * error code. *answer need not be initialised; the caller releases it in any
 * case.
 */
int pack_bitmap_answer(struct pack_bitmap_answer *answer, struct walk *w,
		       const struct pack_bitmap_ask *ask, struct error *err);
void pack_bitmap_answer_release(struct pack_bitmap_answer *answer);

#endif
