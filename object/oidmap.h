/* SPDX-License-Identifier: MIT */
/*
 * A hash table from object ids to 32-bit values, with open addressing. The hash
 * has a secret key (oidhash.h), so a hostile peer cannot choose ids that
 * collide.
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
	/* owned; NULL or a power of two slots */
	struct oidmap_entry *slots;
	size_t slot_nr;
	size_t nr;           /* number of entries */
	struct oidhash hash; /* set if there are slots */
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

/*
 * Looks up an id. Returns false, with *value untouched, if the id is absent.
 * Threads may share a map that no thread changes.
 */
bool oidmap_get(const struct oidmap *map, const struct oid *oid,
		uint32_t *value);

/*
 * Inserts `value` unless the id is present. Returns 1 if the value was
 * inserted, 0 if the id was present, or ERR_NOMEM. If the id was present,
 * *existing (NULL allowed) is set to its value.
 */
int oidmap_add(struct oidmap *map, const struct oid *oid, uint32_t value,
	       uint32_t *existing);

/* Inserts or overwrites a value. Returns 0 or ERR_NOMEM. */
int oidmap_put(struct oidmap *map, const struct oid *oid, uint32_t value);

#endif
