/* SPDX-License-Identifier: MIT */
/*
 * A hash table from object ids to 32-bit values: open addressing, keyed by
 * the id's own leading bytes (they are uniformly distributed already).
 *
 * Ids from a hostile peer can collide only as far as SHA prefixes can be
 * made to; probing is bounded by the load factor of one half otherwise.
 */
#ifndef OBJECT_OIDMAP_H
#define OBJECT_OIDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "object/oid.h"

struct oidmap_entry {
	struct oid oid;
	uint32_t value;
	bool used;
};

struct oidmap {
	struct oidmap_entry *slots; /* owned; a power of two of them, or NULL */
	size_t slot_nr;
	size_t nr; /* entries */
};

#define OIDMAP_INIT                                                            \
	{                                                                      \
		NULL, 0, 0                                                     \
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
