/* SPDX-License-Identifier: MIT */
/*
 * The islands of the objects of a new pack (islands/islands.h), whatever they
 * were listed by.
 *
 * Who has enumerated what all references reach paints from that. A list of
 * objects, or of packs, says nothing about what reaches them: then references
 * are walked from for it, as far as the bitmap index cannot tell that nothing
 * listed is reached any more. What is listed and new is close to the tips, as
 * a rule, and so the walk is short.
 */
#ifndef PACKS_ISLAND_MARKS_H
#define PACKS_ISLAND_MARKS_H

#include <stdbool.h>

#include "base/error.h"
#include "islands/islands.h"
#include "packing/items.h"
#include "refs/refs.h"
#include "sys/progress.h"
#include "walk/walk.h"

struct island_marks {
	struct walk *walk;
	struct refs *refs;
	const struct packing_items *items;
	/*
	 * What all references reach, with lists (walk/walk.h); NULL: that is
	 * not known.
	 */
	const struct walk_result *found;
	/*
	 * Commits that are asked for by themselves, see islands_mark_refs();
	 * those that are not there are left out.
	 */
	const struct oid *heads;
	size_t head_nr;
	unsigned threads;                    /* 0: as many as processors */
	const struct progress_out *progress; /* NULL: none */
};

/*
 * Paint what is at the tips that repack.tipIsland names. 0 or negative; *any
 * is set to false when there are none.
 */
int island_marks_add_tip(struct islands *islands, bool *any,
			 const struct island_marks *marks, struct error *err);

/*
 * Paint by pack.island, and heads; with neither nothing is done. Right for the
 * items,
 * and perhaps not for other objects. 0 or negative; ERR_MISSING when something
 * that references reach is not there.
 */
int island_marks_add_references(struct islands *islands,
				const struct island_marks *marks,
				struct error *err);

#endif
