/* SPDX-License-Identifier: MIT */
/* Types of objects. The numbers are those of pack entry headers. */
#ifndef OBJECT_TYPE_H
#define OBJECT_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum object_type {
	OBJ_NONE = 0,
	OBJ_COMMIT = 1,
	OBJ_TREE = 2,
	OBJ_BLOB = 3,
	OBJ_TAG = 4,
	/* only in packs: a delta whose base is given by a distance */
	OBJ_OFS_DELTA = 6,
	/* only in packs: a delta whose base is given by an id */
	OBJ_REF_DELTA = 7,
};

/* Returns "commit", "tree", "blob" or "tag", or NULL for any other type. */
const char *object_type_name(enum object_type type);

/*
 * Returns the type with the given name, or OBJ_NONE if the name is unknown.
 * `name` has `len` bytes and needs no NUL.
 */
enum object_type object_type_by_name(const char *name, size_t len);

#endif
