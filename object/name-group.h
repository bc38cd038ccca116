/* SPDX-License-Identifier: MIT */
/*
 * Groups of objects by their paths, besides the name hash of bitmap indexes
 * (name_hash_add() in parse.h): what a delta search may sort by instead.
 *
 * A group is a number of 31 bits. It is made component by component, so that
 * a walk needs no whole paths: that of a directory, or 0 for the root, and a
 * name in it give that of the entry.
 */
#ifndef OBJECT_NAME_GROUP_H
#define OBJECT_NAME_GROUP_H

#include <stddef.h>
#include <stdint.h>

enum name_grouping {
	/* All paths are in group 0: the name hash alone tells. */
	NAME_GROUP_NONE,
	/*
	 * --name-hash-version=2: the top bits of the name hash of the last
	 * component, and below them some that tell directories apart. Entries
	 * of like names are near each other, those of one directory next to
	 * each other. git-pack-objects(1) describes no more than that: these
	 * numbers need not be those of stock Git, and are not stored.
	 */
	NAME_GROUP_COMPONENTS,
	/* --path-walk: the whole path. Different paths are in different groups,
	 * as far as hashing can say. */
	NAME_GROUP_PATH,
};

/* The group of entry `name` of the directory whose group is `dir`. */
uint32_t name_group_enter(enum name_grouping grouping, uint32_t dir,
			  const char *name, size_t len);

/* The group of a path with slashes; "" is the root. */
uint32_t name_group_path(enum name_grouping grouping, const char *path,
			 size_t len);

#endif
