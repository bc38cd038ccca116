/* SPDX-License-Identifier: MIT */
/*
 * What a tree has that another, which is much like it, does not have in the
 * same place. Only directories that differ are read, and of these only entries
 * that differ are looked up.
 *
 * What is in both, but not in the same place, is found to be new if it did not
 * change in the old one: a file that was copied, but not one that was moved. So
 * this is for trees of which little is new, and no directory.
 */
#ifndef WALK_TREE_CHANGES_H
#define WALK_TREE_CHANGES_H

#include <stdint.h>

#include "base/error.h"
#include "walk/treewalk.h"
#include "walk/walk.h"

/* Entries that have no other beside them, and all. */
#define TREE_CHANGES_ADDED_MAX 16
#define TREE_CHANGES_CHANGED_MAX 256

/*
 * Append the trees and blobs of `new_tree` to `found`, some perhaps twice, and
 * mark in old->seen what `old_tree` has in their places, and all that has gone.
 * Returns 0; 1 when more is new than that, or the new tree cannot be read;
 * ERR_MISSING or ERR_CORRUPT for the old one; or ERR_NOMEM.
 */
int tree_changes_find(struct walk_items *found, struct treewalk *old,
		      uint32_t old_tree, uint32_t new_tree, struct error *err);

#endif
