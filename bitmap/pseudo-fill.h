/* SPDX-License-Identifier: MIT */
/*
 * Finds the pseudo-merges that a query can use: those whose commits are all
 * reached.
 *
 * Only pseudo-merges are considered that contain a noted commit: a tip, or a
 * commit that the walk has reached. For a request with few tips this costs a
 * few binary searches, for any number of pseudo-merges.
 */
#ifndef BITMAP_PSEUDO_FILL_H
#define BITMAP_PSEUDO_FILL_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bitmap/pseudo-merge.h"
#include "ewah/bitset.h"

/* A pseudo-merge that may become usable. */
struct pseudo_candidate {
	uint32_t nr;
	/*
	 * bit_pos of a commit that was not reached at the last try, or
	 * UINT32_MAX
	 */
	uint32_t lacking;
};

struct pseudo_fill {
	const struct pseudo_merges *pm; /* borrowed */
	struct bitset noted;            /* by bit_pos */
	/* by number: is or was a candidate */
	struct bitset known;
	struct pseudo_candidate *candidates; /* owned */
	size_t nr, alloc;
	/* owned: numbers of the used pseudo-merges */
	uint32_t *served;
	size_t served_alloc;
	/* number of used pseudo-merges */
	uint32_t used;
};

/*
 * Holds no memory until a commit is noted. The caller releases it in any case.
 */
void pseudo_fill_init(struct pseudo_fill *pf, const struct pseudo_merges *pm);
void pseudo_fill_release(struct pseudo_fill *pf);

/*
 * Notes a commit that is wanted. It counts as reached from now on. Returns 0 or
 * a negative error code.
 */
int pseudo_fill_note(struct pseudo_fill *pf, uint32_t bit_pos,
		     struct error *err);

/*
 * ORs into `reached` the objects of every candidate whose commits are all noted
 * or in `reached`. Each pseudo-merge is used once. Returns 0, ERR_CORRUPT or
 * ERR_NOMEM.
 */
int pseudo_fill_run(struct pseudo_fill *pf, struct bitset *reached,
		    struct error *err);

#endif
