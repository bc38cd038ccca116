/* SPDX-License-Identifier: MIT */
/* Computes the numbers of path groups (object/path-group.h). */
#include <string.h>

#include "object/path-group.h"
#include "object/parse.h"

/*
 * Number of low bits of a group that come from the directory. The higher bits
 * come from the name.
 */
#define DIR_BITS 13

/*
 * Returns the path group of a tree entry for the grouping PATH_GROUP_PATH: a
 * number computed from the path of the entry. It is the FNV-1a hash of the
 * entry's name, with the bits mixed at the end. The start value of the hash
 * depends on `dir`, the path group of the directory that has the entry. So the
 * number depends on the whole path.
 */
static uint32_t hash_component(uint32_t dir, const char *name, size_t len)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325) ^ dir;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (uint8_t)name[i]) * UINT64_C(0x100000001b3);
	h ^= h >> 32;
	return (uint32_t)(h * UINT64_C(0x9e3779b97f4a7c15) >> 33);
}

/*
 * Returns a combination of the path hash of a name and the group of its
 * directory: the top bits of `name_hash`, followed by bits of a hash of `dir`.
 */
static uint32_t overlay(uint32_t dir, uint32_t name_hash)
{
	uint32_t salt = dir * UINT32_C(0x9e3779b1) >> (32 - DIR_BITS);

	return name_hash >> (DIR_BITS + 1) << DIR_BITS | salt;
}

uint32_t path_group_enter(enum path_grouping grouping, uint32_t dir,
			  const char *name, size_t len)
{
	switch (grouping) {
	case PATH_GROUP_NONE:
		break;
	case PATH_GROUP_COMPONENTS:
		return overlay(dir, name_hash_add(0, name, len));
	case PATH_GROUP_PATH:
		return hash_component(dir, name, len);
	}
	return 0;
}

uint32_t path_group_path(enum path_grouping grouping, const char *path,
			 size_t len)
{
	uint32_t group = 0;

	while (len) {
		const char *slash = memchr(path, '/', len);
		size_t name_len = slash ? (size_t)(slash - path) : len;

		group = path_group_enter(grouping, group, path, name_len);
		path += name_len + (slash != NULL);
		len -= name_len + (slash != NULL);
	}
	return group;
}
