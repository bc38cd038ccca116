/* SPDX-License-Identifier: MIT */
/*
 * Filling in what no bitmap says: from a set of tips back to the nearest
 * commits with bitmaps.
 *
 * Sets of objects have two parts: `packed`, by bit_pos, and `outside`, by
 * obj_pos, for everything that is not indexed.
 */
#ifndef BITMAP_FILL_H
#define BITMAP_FILL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "bitmap/file.h"
#include "bitmap/space.h"
#include "ewah/bitset.h"
#include "odb/odb.h"
#include "walk/walk.h"

/* Which bitmaps served, in the order in which they were used. */
struct bitmap_trace {
	uint32_t *rows; /* owned: of commits */
	size_t row_nr, row_alloc;
	uint32_t *pseudo; /* owned: numbers of pseudo-merges */
	size_t pseudo_nr, pseudo_alloc;
};

void bitmap_trace_release(struct bitmap_trace *trace);

struct bitmap_fill {
	const struct bitmap_file *file; /* borrowed */
	struct bitmap_space space;
	struct walk *w; /* borrowed */
	/*
	 * Borrowed; may be set before anything is added. Trees and blobs of
	 * walked commits that it does not let through need not be found. NULL:
	 * everything is.
	 */
	const struct filter *filter;
	struct bitset packed;  /* by bit_pos: reached so far */
	struct bitset outside; /* by obj_pos: reached so far */
	struct bitset scratch;
	struct bitmap_space_table table; /* owned: made when many bits are
					    asked for */
	uint32_t lookups;                /* made without that table */
	uint32_t bitmaps_used, pseudo_merges_used, commits_walked;
	uint64_t objects_walked;    /* added without a bitmap */
	struct bitmap_trace *trace; /* borrowed, appended to; NULL: none */
};

/* An empty set. 0 or ERR_NOMEM; release in any case. */
int bitmap_fill_init(struct bitmap_fill *fill, const struct bitmap_file *file,
		     struct bitmap_space space, struct walk *w,
		     struct error *err);
void bitmap_fill_release(struct bitmap_fill *fill);

/* Make it empty again; numbers of what was used as well. */
void bitmap_fill_clear(struct bitmap_fill *fill);

/*
 * Only find the commits that the tips reach: with some of what they reach, and
 * not all. For counting what has to be walked.
 */
int bitmap_fill_commits(struct bitmap_fill *fill, const struct walk_tips *tips,
			struct error *err);

/*
 * Add everything that the tips reach and that is not in the set yet. Objects
 * that are not indexed are also appended to *others (NULL: not wanted).
 */
int bitmap_fill_tips(struct bitmap_fill *fill, const struct walk_tips *tips,
		     struct walk_items *others, struct error *err);

/* The same in steps, for who wants to know in between what it will cost. */
struct bitmap_side;

/* Begin with tips, which are borrowed until the end. *out is the caller's. */
int bitmap_side_start(struct bitmap_side **out, struct bitmap_fill *fill,
		      const struct walk_tips *tips, struct walk_items *others,
		      struct error *err);
void bitmap_side_free(struct bitmap_side *side);

/*
 * Add commits, newest first, and what bitmaps know of them, until `limit`
 * commits without bitmap were walked. 0: all are added; 1: there are more, and
 * it can go on with another limit.
 */
int bitmap_side_walk(struct bitmap_side *side, size_t limit, struct error *err);

/* Whether a commit, which was added to the history, has a bitmap. */
bool bitmap_side_has_bitmap(const struct bitmap_side *side, uint32_t commit_nr);

/*
 * About how many commits lie behind one up to those that have bitmaps: by the
 * order of the pack, which has newer commits first, as far as `most`; for one
 * that the index does not have, by the number of packed objects that it does
 * not have, and `most` if it has none at all. O(most + words of a type bitmap).
 */
size_t bitmap_side_distance(const struct bitmap_side *side, uint32_t commit_nr,
			    size_t most);

/*
 * The commit at which bitmap_side_walk() would go on, the newest that waits;
 * false: there is none.
 */
bool bitmap_side_next(struct bitmap_side *side, uint32_t *commit_nr);

/* The commits that were walked (commit_nr), until the next call. */
const uint32_t *bitmap_side_walked(const struct bitmap_side *side, size_t *nr);

/*
 * Add, once the walk has ended, what these commits' trees have, unless that is
 * not wanted, and what the tips name by themselves.
 */
int bitmap_side_finish(struct bitmap_side *side, bool trees, struct error *err);

#endif
