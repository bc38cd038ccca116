/* SPDX-License-Identifier: MIT */
/*
 * A bounded tree diff: the objects that a tree has and a similar tree does not
 * have at the same path. Only directories that differ are read, and only
 * entries that differ are looked up.
 *
 * An object may be in both trees at different paths. A copied file counts as
 * new. A moved file does not, because its old path marks the file in old->seen.
 * Use this for trees of which little is new, and no whole directory.
 */
#ifndef WALK_TREE_CHANGES_H
#define WALK_TREE_CHANGES_H

#include <stdint.h>

#include "base/error.h"
#include "walk/treewalk.h"
#include "walk/walk.h"

/*
 * Limits of one comparison: new entries without an old one of the same name,
 * and all new or changed entries.
 */
#define TREE_CHANGES_ADDED_MAX 16
#define TREE_CHANGES_CHANGED_MAX 256

/*
 * Appends the new or changed trees and blobs of `new_tree` to `found`, some
 * perhaps twice. Marks in old->seen the old tree's objects at the same paths,
 * and those of removed entries. Returns 0; 1 if a limit is exceeded or the new
 * tree cannot be read; ERR_MISSING or ERR_CORRUPT if the old tree cannot be
 * read; or ERR_NOMEM.
 */
int tree_changes_find(struct walk_items *found, struct treewalk *old,
		      uint32_t old_tree, uint32_t new_tree, struct error *err);

#endif
