/* SPDX-License-Identifier: MIT */
/*
 * Dividing an enumeration by a filter: which objects pass. `git repack
 * --filter` puts the objects that pass and all others into separate packs.
 */
#ifndef PACKS_FILTER_SPLIT_H
#define PACKS_FILTER_SPLIT_H

#include "base/error.h"
#include "ewah/bitset.h"
#include "walk/walk.h"

/* An enumeration and its tips. All borrowed. */
struct filter_split {
	struct walk *walk;
	const struct walk_tips *wants, *haves;
	/* without a filter, with objects */
	const struct walk_result *found;
};

/*
 * Set the bits (obj_pos) of the objects that pass. The wants themselves always
 * pass. *passed must be initialised; release it in any case. Returns 0 or a
 * negative error code. Cost: one look-up per object if the filter needs types
 * and sizes; a second walk if the filter needs paths.
 */
int filter_split_passed(struct bitset *passed, const struct filter_split *split,
			const struct filter *filter, struct error *err);

#endif
