/* SPDX-License-Identifier: MIT */
/* Names of object types. */
#include <string.h>

#include "object/type.h"

const char *object_type_name(enum object_type type)
{
	switch (type) {
	case OBJ_COMMIT:
		return "commit";
	case OBJ_TREE:
		return "tree";
	case OBJ_BLOB:
		return "blob";
	case OBJ_TAG:
		return "tag";
	case OBJ_NONE:
	case OBJ_OFS_DELTA:
	case OBJ_REF_DELTA:
		break;
	}
	return NULL;
}

enum object_type object_type_by_name(const char *name, size_t len)
{
	for (enum object_type t = OBJ_COMMIT; t <= OBJ_TAG; t++) {
		const char *known = object_type_name(t);

		if (len == strlen(known) && !memcmp(name, known, len))
			return t;
	}
	return OBJ_NONE;
}
