/* SPDX-License-Identifier: MIT */
/*
 * Bitmaps of selected commits, from what each commit adds.
 *
 * No tree is walked here: the bitmap of a commit is the union of new(a) over
 * its ancestors a (walk/newobj.h), so it is built by walking back to the
 * nearest commits whose bitmaps exist already, ORing those in and setting the
 * bits of the lists in between.
 *
 * Pseudo-merges are built in the same way, from all their commits at once.
 *
 * Each bitmap of a commit is then stored as its difference (XOR) to an earlier
 * one, when that is smaller.
 */
#ifndef BITMAP_BUILD_H
#define BITMAP_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bitmap/file.h"
#include "bitmap/space.h"
#include "ewah/ewah.h"
#include "sys/progress.h"
#include "walk/history.h"
#include "walk/newobj.h"

/*
 * The longest chain of differences, all of which a query decodes: so many
 * links, and no more words than BITMAP_CHAIN_WORDS and BITMAP_CHAIN_FACTOR
 * times those of a plain set of all objects. About 0.2 ms for a million
 * objects.
 */
#define BITMAP_CHAIN_LINKS 1000
#define BITMAP_CHAIN_WORDS 16384
#define BITMAP_CHAIN_FACTOR 16

/* A pseudo-merge to build: its commits. */
struct bitmap_group {
	uint32_t *commits; /* commit_nr, any order */
	size_t nr;
};

struct bitmap_built;

/* What to build from; all borrowed for the call. */
struct bitmap_build_input {
	const struct history *history;
	const uint32_t *commits; /* commit_nr, parents first: all commits
				    that the selected ones reach, but for
				    those that `old` ones or those with a
				    bitmap in `below` reach */
	size_t commit_nr;
	const struct newobj_set *lists; /* new(c), in the order of `commits` */
	const uint32_t *bit_pos;        /* by obj_pos; UINT32_MAX: not packed */
	size_t bits;                    /* objects in the pack */
	const uint32_t *selected;       /* commit_nr, any order */
	size_t selected_nr;
	/*
	 * Bitmaps that are there already and stay as they are, before those
	 * that are built. Taken over: the caller's are left empty.
	 */
	struct bitmap_built *old;
	size_t old_nr;
	/*
	 * Bitmaps in files over the same bits, of layers below or of those that
	 * become one: they are ORed in, and stay where they are. NULL: none.
	 */
	const struct bitmap_file *below;
	const struct bitmap_space *space; /* of `below` */
	bool whole;          /* no differences: each is stored as it is */
	size_t memory_limit; /* bytes of complete bitmaps of what is stored as
				differences, but for the newest; 0: none */
	const struct bitmap_group *groups; /* pseudo-merges */
	size_t group_nr;
	const struct progress_out *progress; /* NULL: none */
};

/* One bitmap as it will be stored. */
struct bitmap_built {
	uint32_t commit_nr;
	uint8_t xor_offset; /* entries back, 0: stored as it is */
	struct ewah bitmap;
};

/* A pseudo-merge: its commits and what they reach, by bit_pos. */
struct bitmap_built_group {
	struct ewah commits, objects;
};

/* What was built. */
struct bitmap_build_result {
	struct bitmap_built *entries; /* owned: old ones, then ancestors
					 before descendants */
	size_t entry_nr;
	struct bitmap_built_group
		*groups; /* owned: in the order of the input */
	size_t group_nr;
};

/*
 * Build. An object of the closure that has no bit is ERR_MISSING: the pack is
 * not closed. *out is released with bitmap_build_result_release(), also after
 * failure.
 */
int bitmap_build(struct bitmap_build_result *out,
		 const struct bitmap_build_input *input, struct error *err);
void bitmap_build_result_release(struct bitmap_build_result *result);

#endif
