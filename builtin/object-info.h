/* SPDX-License-Identifier: MIT */
/* How an object is stored: for %(objectsize:disk) and %(deltabase). */
#ifndef BUILTIN_OBJECT_INFO_H
#define BUILTIN_OBJECT_INFO_H

#include "repo/odb.h"

struct object_info {
	uint64_t disk_size; /* bytes in the pack, or of the loose file */
	struct oid base;    /* what it is a delta against; zero: nothing */
};

/* Look the canonical copy up. 0, ERR_MISSING or another error. */
int object_info_get(struct object_info *info, const struct odb *odb,
		    const struct oid *oid, struct error *err);

#endif
