/* SPDX-License-Identifier: MIT */
/*
 * Which pseudo-merges serve a query: those whose commits it reaches all.
 *
 * Looked at are only those that hold a commit that was noted: a tip, or one
 * that the walk has come to. For a request of few tips that is a few binary
 * searches, however many pseudo-merges there are.
 */
#ifndef BITMAP_PSEUDO_FILL_H
#define BITMAP_PSEUDO_FILL_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bitmap/pseudo-merge.h"
#include "ewah/bitset.h"

/* A pseudo-merge that may serve. */
struct pseudo_candidate {
	uint32_t nr;
	uint32_t lacking; /* bit_pos of a commit that was not reached when last
			     looked, or UINT32_MAX */
};

struct pseudo_fill {
	const struct pseudo_merges *pm; /* borrowed */
	struct bitset noted;            /* by bit_pos */
	struct bitset known;            /* by number: is or was a candidate */
	struct pseudo_candidate *candidates; /* owned */
	size_t nr, alloc;
	uint32_t *served; /* owned: numbers of those that served */
	size_t served_alloc;
	uint32_t used; /* how many these are */
};

/* Holds no memory until a commit is noted. Release in any case. */
void pseudo_fill_init(struct pseudo_fill *pf, const struct pseudo_merges *pm);
void pseudo_fill_release(struct pseudo_fill *pf);

/* A commit that is wanted: it counts as reached from now on. */
int pseudo_fill_note(struct pseudo_fill *pf, uint32_t bit_pos,
		     struct error *err);

/*
 * OR into `reached` the objects of every candidate whose commits are all
 * noted or in `reached`. Each serves once. 0, ERR_CORRUPT or ERR_NOMEM.
 */
int pseudo_fill_run(struct pseudo_fill *pf, struct bitset *reached,
		    struct error *err);

#endif
