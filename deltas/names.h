/* SPDX-License-Identifier: MIT */
/*
 * Names the objects of a list, for the delta search. Objects that were found
 * without paths get name hashes here. Attributes of a path can exclude its
 * blobs from the search.
 *
 * A path starts at a commit or tree of the list and leads through trees of the
 * list. These commits and trees are read once each. No other object is read, so
 * the cost depends on the size of the list.
 */
#ifndef DELTAS_NAMES_H
#define DELTAS_NAMES_H

#include "base/error.h"
#include "deltas/items.h"

/*
 * Set the name hash and path hash of each tree and blob from one of its paths.
 * Objects without a path in the list, and objects that cannot be read, keep 0.
 * Returns 0 or a negative error code.
 */
int names_fill(struct packing_items *list, enum path_grouping grouping,
	       struct error *err);

/*
 * Set `no_delta` of each blob whose path has the attribute delta unset
 * (gitattributes(5)). External items are skipped: objects that are delta bases,
 * but are not written into the pack. The rules come from the attribute files of
 * the repository. If no rule mentions delta, which is usual, only these files
 * are read, and no trees. Returns 1 if some blob was marked, 0 if none was, or
 * a negative error code.
 */
int names_apply_attrs(struct packing_items *list, struct error *err);

#endif
