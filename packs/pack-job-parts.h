/* SPDX-License-Identifier: MIT */
/*
 * Declarations for the parts of a pack job (packs/pack-job.c) that are in
 * separate files: marking islands, and dividing objects by a filter.
 */
#ifndef PACKS_PACK_JOB_PARTS_H
#define PACKS_PACK_JOB_PARTS_H

#include <stdbool.h>

#include "base/error.h"
#include "check/promisor.h"
#include "ewah/bitset.h"
#include "islands/islands.h"
#include "deltas/items.h"
#include "refs/refs.h"
#include "sys/progress.h"
#include "walk/walk.h"

/*
 * ---- island-marks.c
 *
 * Marks the islands of the objects of a new pack (islands/islands.h).
 *
 * If all objects that references reach were enumerated, the marks are derived
 * from that enumeration. If the objects were listed instead, a walk from the
 * references marks the listed objects that it meets. The walk stops at commits
 * from which no listed object is reachable, as the bitmap index shows. Most
 * listed objects are new and close to the tips, so the walk is short.
 */

struct island_marks {
	struct walk *walk;
	struct refs *refs;
	const struct packing_items *items;
	/*
	 * The closure of all references; NULL: the closure was not enumerated.
	 * Unless `promisor` is set, found->lists has the new-object list of
	 * each commit (the objects that its parents do not have).
	 */
	const struct walk_result *found;
	/*
	 * Borrowed. Set in a partial clone if promised objects are left out,
	 * else NULL.
	 */
	struct promisor *promisor;
	/*
	 * Commits each of which clients often clone as the only want: with full
	 * history, or with depth 1 (islands_mark_refs()). Commits that do not
	 * exist in the repository are ignored.
	 */
	const struct oid *heads;
	size_t head_nr;
	/* number of threads; 0: as many as processors */
	unsigned threads;
	const struct progress_out *progress; /* NULL: none */
};

/*
 * Mark the tip island: the closure of the trees of the commits that
 * repack.tipIsland names. *any is set to whether the key names a commit.
 * Returns 0 or a negative error code.
 */
int island_marks_add_tip(struct islands *islands, bool *any,
			 const struct island_marks *marks, struct error *err);

/*
 * Show the number of islands of references (islands_count()), as stock Git does
 * before it enumerates objects. Does nothing if `out` is NULL. Returns 0 or a
 * negative error code.
 */
int island_marks_tell(struct walk *walk, struct refs *refs,
		      const struct progress_out *out, struct error *err);

/*
 * Mark the objects of two kinds of delta islands: the islands that pack.island
 * defines, and the islands of the commits in marks->heads
 * (islands_mark_refs()). Does nothing if pack.island is not set and there are
 * no heads. Each object in marks->items gets all its marks; other objects may
 * lack marks. Returns 0 or a negative error code: ERR_MISSING if an object that
 * a reference reaches is missing.
 */
int island_marks_add_references(struct islands *islands,
				const struct island_marks *marks,
				struct error *err);

/*
 * ---- filter-split.c
 *
 * Finds out which objects of an enumeration pass a filter. `git repack
 * --filter` puts the objects that pass into one pack, and all others into
 * another.
 */

/* An enumeration and its tips. All pointers are borrowed. */
struct filter_split {
	struct walk *walk;
	const struct walk_tips *wants, *haves;
	/* The result of the enumeration, which was made without a filter. */
	const struct walk_result *found;
	/* Set if the enumeration listed missing blobs without fetching them. */
	bool missing_blobs;
	/* set if `found` is a result of promisor_enumerate(), else NULL */
	const struct promisor *promisor;
};

/*
 * Set in *passed the bits (obj_pos) of the found objects that pass the filter.
 * Wants pass without being filtered. There are two exceptions, which are
 * filtered like other objects: a wanted tree that is the root tree of a commit
 * of the result, and a wanted tree or blob that is below an earlier wanted tree
 * (walk/filtered.h). If the filter needs paths, objects that a promisor pack
 * names pass, because their paths are unknown. *passed must be initialised;
 * release it in any case. Returns 0 or a negative error code. Cost: one look-up
 * for each object if the filter needs types and sizes. A second walk is made if
 * the filter needs paths, or if a want may be below an earlier wanted tree
 * (filtered_may_nest()).
 */
int filter_split_passed(struct bitset *passed, const struct filter_split *split,
			const struct filter *filter, struct error *err);

#endif
