/* SPDX-License-Identifier: MIT */
/*
 * What of an enumeration a filter lets through, so that the rest can be told
 * from it: `git repack --filter` puts either into packs of its own.
 */
#ifndef PACKS_FILTER_SPLIT_H
#define PACKS_FILTER_SPLIT_H

#include "base/error.h"
#include "ewah/bitset.h"
#include "walk/walk.h"

/* What was enumerated, and from where. All borrowed. */
struct filter_split {
	struct walk *walk;
	const struct walk_tips *wants, *haves;
	const struct walk_result *found; /* without a filter, with objects */
};

/*
 * The objects that pass, by obj_pos; the wants themselves are among them.
 * A filter that asks for types and sizes costs a question for each object, one
 * that needs paths a second walk. *passed must be initialised; release it in
 * any case. 0 or negative.
 */
int filter_split_passed(struct bitset *passed, const struct filter_split *split,
			const struct filter *filter, struct error *err);

#endif
