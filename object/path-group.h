/* SPDX-License-Identifier: MIT */
/*
 * Path groups. Objects whose paths are in the same group are neighbours when
 * deltas are searched. A delta search may use groups instead of the path hash
 * of bitmap indexes (name_hash_add() in object/parse.h).
 *
 * A group is a number of 31 bits. The root directory has group 0. The group of
 * an entry is computed from the group of its directory and the name of the
 * entry, so a walk needs no whole paths.
 */
#ifndef OBJECT_PATH_GROUP_H
#define OBJECT_PATH_GROUP_H

#include <stddef.h>
#include <stdint.h>

enum path_grouping {
	/*
	 * All paths are in group 0, so the delta search uses only the path
	 * hash.
	 */
	PATH_GROUP_NONE,
	/*
	 * --name-hash-version=2: the top bits are those of the path hash of the
	 * last component, and the lower bits are a hash of the directory. So
	 * entries with similar names are close together. Among these, entries
	 * of one directory are next to each other. Group numbers are not
	 * stored, and git-pack-objects(1) does not define them. So they may
	 * differ from those of stock Git.
	 */
	PATH_GROUP_COMPONENTS,
	/*
	 * --path-walk: a hash of the whole path. Different paths are in
	 * different groups, except for hash collisions.
	 */
	PATH_GROUP_PATH,
};

/* Returns the group of entry `name` in the directory with group `dir`. */
uint32_t path_group_enter(enum path_grouping grouping, uint32_t dir,
			  const char *name, size_t len);

/* Returns the group of a path with slashes. The path "" is the root. */
uint32_t path_group_path(enum path_grouping grouping, const char *path,
			 size_t len);

#endif
