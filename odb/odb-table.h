/* SPDX-License-Identifier: MIT */
/*
 * One hash table over all packed ids of a snapshot, for those who look up a
 * great many ids in a great many packs: searched one by one, each pack costs
 * a cache miss, and most do not have the object.
 *
 * Open addressing; 16 to 32 bytes for each id. Immutable once made; threads may
 * share it.
 */
#ifndef ODB_ODB_TABLE_H
#define ODB_ODB_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "odb/odb.h"

struct odb_table_slot {
	uint32_t tag;            /* the id's bytes 8 to 11 */
	uint32_t odb_pos_plus_1; /* 0: free */
};

struct odb_table {
	const struct odb *odb;        /* borrowed */
	struct odb_table_slot *slots; /* owned; NULL: no table */
	unsigned shift; /* an id's first 64 bits >> shift: where to begin */
	size_t mask;    /* slots are a power of two, less one */
};

/*
 * Make the table: one pass over all ids. 0, or ERR_NOMEM with a table that is
 * not there.
 */
int odb_table_init(struct odb_table *table, const struct odb *odb);
void odb_table_release(struct odb_table *table);

/* As odb_find_raw(), with the same answers. The table is there. */
bool odb_table_find(const struct odb_table *table, const uint8_t *raw,
		    uint32_t *odb_pos);

#endif
