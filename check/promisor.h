/* SPDX-License-Identifier: MIT */
/*
 * Promised objects of a partial clone (gitrepository-layout(5),
 * technical/partial-clone): the objects in packs with a .promisor file, and the
 * objects to which these objects have links. Promised objects may be missing.
 * This module does not fetch missing objects.
 *
 * The .idx files say which objects promisor packs have. To find the links, all
 * commits, trees and tags of promisor packs must be read. This is done at the
 * first query about an object that no promisor pack has.
 *
 * A struct promisor, and its struct walk, are used by one thread.
 */
#ifndef CHECK_PROMISOR_H
#define CHECK_PROMISOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "ewah/bitset.h"
#include "walk/walk.h"

struct promisor {
	struct walk *walk; /* borrowed */
	/* indexed by obj_pos: objects that are in a promisor pack */
	struct bitset packed;
	/*
	 * indexed by obj_pos: objects to which an object of a promisor pack has
	 * a link
	 */
	struct bitset named;
	/* whether there is a promisor pack */
	bool has_packs;
	/* true: there is a local pack without a .promisor file */
	bool has_others;
	/* true: all promisor packs were read, so `named` is complete */
	bool is_loaded;
};

/*
 * Reads the .idx files of promisor packs. Returns 0 or a negative error code.
 * Release *p in any case.
 */
int promisor_init(struct promisor *p, struct walk *walk, struct error *err);
void promisor_release(struct promisor *p);

/* Returns whether a promisor pack has the object. */
static inline bool promisor_has(const struct promisor *p, uint32_t obj_pos)
{
	return bitset_get(&p->packed, obj_pos);
}

/*
 * Returns 1 if a promisor remote has promised an object, 0 if not, or a
 * negative error code. At the first call for an object that no promisor pack
 * has, reads the commits, trees and tags of all promisor packs.
 */
int promisor_promises(struct promisor *p, uint32_t obj_pos, struct error *err);

/* Returns whether the object exists, loose or in a pack of the snapshot. */
bool promisor_is_there(const struct promisor *p, uint32_t obj_pos);

/*
 * Returns 1 if an object exists, 0 if it is missing but promised, ERR_MISSING
 * if it is missing and not promised, or another error code.
 */
int promisor_check(struct promisor *p, uint32_t obj_pos, enum object_type type,
		   struct error *err);

/*
 * Walks from `wants`, and lists the objects that it meets. The walk stops at
 * objects of promisor packs, at missing promised objects, and at existing
 * objects that `haves` reach. So it lists no object that is only reachable
 * through an object of a promisor pack. Fills in *result as walk_enumerate()
 * does with the option `objects`, and returns the same values. But
 * result->lists (the new-object list of each commit) stays empty.
 *
 * With `keep_promised`, the walk also starts at promised objects (objects to
 * which an object of a promisor pack has a link) that exist outside of promisor
 * packs. So these objects are listed even if no walk from `wants` meets them.
 * The repository relies on these copies, because no promisor pack has the
 * objects.
 */
int promisor_enumerate(struct walk_result *result, struct promisor *p,
		       const struct walk_tips *wants,
		       const struct walk_tips *haves,
		       enum path_grouping grouping, bool keep_promised,
		       struct error *err);

#endif
