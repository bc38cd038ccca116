/* SPDX-License-Identifier: MIT */
/*
 * A request answered by the bitmap index where that can, by walking where not,
 * and why.
 *
 * Both ways find the same objects: those that wants reach and haves do not.
 * Walking pays for that with a walk over all that is behind the haves, unless
 * the caller takes some objects too many; who does also gets the way that is
 * estimated to cost less.
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
 * Why bitmaps do not answer a request in this walk, with this filter: a
 * constant string; NULL when they do.
 */
const char *pack_bitmap_answer_unfit(const struct walk *w,
				     const struct filter *filter);

/* A request. All borrowed. */
struct pack_bitmap_ask {
	const struct pack_bitmap *pb; /* NULL: walk, */
	const char *no_bitmap;        /*   for this reason */
	const struct walk_tips *wants, *haves;
	const struct filter *filter; /* NULL: none */
	bool filter_wants;           /* or else the wants themselves pass */
	bool commits_only;           /* then no filter */
	bool must_use_bitmap;        /* do not walk: fail */
	bool inexact; /* leave out of what haves reach what is easily found; by
			 an index as pack_bitmap_query() says, walking the
			 commits and what the boundary's trees have */
	unsigned threads;                    /* 0: as many as processors */
	const struct progress_out *progress; /* NULL: none */
};

/* One of these holds the objects. */
struct pack_bitmap_answer {
	bool by_bitmap;
	struct pack_bitmap_result result; /* by bitmap; with commits_only the
					     other types are in it too */
	struct pack_bitmap_trace trace;   /* all zero by walking */
	struct walk_items walked;         /* owned: by walking */
	uint32_t commits_walked;          /* by either, outside bitmaps */
	struct error reason; /* why not by bitmap; code 0: it was */
};

/*
 * Answer. An index that turns out to be broken, or does not know what it would
 * need, is set aside. 0, ERR_MISSING for an object that cannot be found,
 * ERR_UNSUPPORTED with the reason when must_use_bitmap cannot be done, or
 * another error. *answer need not be initialised; release it in any case.
 */
int pack_bitmap_answer(struct pack_bitmap_answer *answer, struct walk *w,
		       const struct pack_bitmap_ask *ask, struct error *err);
void pack_bitmap_answer_release(struct pack_bitmap_answer *answer);

#endif
