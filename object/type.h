/* SPDX-License-Identifier: MIT */
/* Types of objects, numbered as in pack entry headers. */
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
	OBJ_OFS_DELTA = 6, /* only in packs: delta, base by distance */
	OBJ_REF_DELTA = 7, /* only in packs: delta, base by id */
};

/* "commit", "tree", "blob" or "tag"; NULL for anything else. */
const char *object_type_name(enum object_type type);

/* The type of that name (`len` bytes, no NUL needed); OBJ_NONE if unknown. */
enum object_type object_type_by_name(const char *name, size_t len);

#endif
