/* SPDX-License-Identifier: MIT */
/*
 * What paths say about the objects of a list. Name hashes are for those that
 * were found otherwise than by a walk: the delta search compares objects of
 * like names. And some paths are not to be compared at all.
 *
 * A path is one by which a commit or tree of the list reaches the object
 * through trees of the list. These commits and trees are read, each once, and
 * no more: what is new is looked at, not what it is new to.
 */
#ifndef PACKING_NAMES_H
#define PACKING_NAMES_H

#include "base/error.h"
#include "packing/items.h"

/*
 * Give each tree and blob of the list the name hash and group of a path.
 * Objects that nothing in the list names, and those that cannot be read, keep
 * 0.
 */
int names_fill(struct packing_items *list, enum name_grouping grouping,
	       struct error *err);

/*
 * Set `no_delta` of each blob of the list, external ones aside, whose path has
 * the attribute delta unset (gitattributes(5)), by the rules that hold for the
 * object store's repository. Where no rule says so, and that is as a rule so,
 * nothing is read but the files that could have some. 1 when there are such
 * blobs, else 0.
 */
int names_apply_attrs(struct packing_items *list, struct error *err);

#endif
