/* SPDX-License-Identifier: MIT */
/*
 * A hash table from object ids to 32-bit values: open addressing, with a
 * secret key (oidhash.h), so that ids which a hostile peer chose are as far
 * apart as any.
 */
#ifndef OBJECT_OIDMAP_H
#define OBJECT_OIDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "object/oidhash.h"

struct oidmap_entry {
	struct oid oid;
	uint32_t value;
	bool used;
};

struct oidmap {
	struct oidmap_entry *slots; /* owned; a power of two of them, or NULL */
	size_t slot_nr;
	size_t nr;           /* entries */
	struct oidhash hash; /* set when there are slots */
};

#define OIDMAP_INIT                                                            \
	{                                                                      \
		NULL, 0, 0,                                                    \
		{                                                              \
			{                                                      \
				0                                              \
			}                                                      \
		}                                                              \
	}

void oidmap_release(struct oidmap *map);

/* Look up; false when absent (*value untouched). Readers may share a map. */
bool oidmap_get(const struct oidmap *map, const struct oid *oid,
		uint32_t *value);

/*
 * Insert `value` unless the id is there. Returns 1 when inserted, 0 when it
 * was there (*existing, if not NULL, is set to its value), or ERR_NOMEM.
 */
int oidmap_add(struct oidmap *map, const struct oid *oid, uint32_t value,
	       uint32_t *existing);

/* Insert or overwrite. 0 or ERR_NOMEM. */
int oidmap_put(struct oidmap *map, const struct oid *oid, uint32_t value);

#endif
