/* SPDX-License-Identifier: MIT */
/*
 * Name hashes for objects that were found otherwise than by a walk: the
 * delta search compares objects of like names.
 */
#ifndef REPACK_NAMES_H
#define REPACK_NAMES_H

#include "base/error.h"
#include "repack/items.h"

/*
 * Give each tree and blob of the list the name hash and group of a path by
 * which a
 * commit or tree of the list reaches it through trees of the list. Reads these
 * commits and trees, each once, and no more: what is new is looked at, not
 * what it is new to. Objects that nothing in the list names, and those that
 * cannot be read, keep 0.
 */
int names_fill(struct repack_items *list, enum name_grouping grouping,
	       struct error *err);

#endif
