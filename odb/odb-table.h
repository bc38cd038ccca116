/* SPDX-License-Identifier: MIT */
/*
 * A hash table of all packed ids of a snapshot, for callers that look up very
 * many ids in very many packs. A search pack by pack costs one cache miss per
 * pack, and most packs do not have the object.
 *
 * The table uses open addressing, with 16 to 32 bytes per id. The table is
 * immutable, and threads may share it. If very many ids begin with the same
 * bits, some of them are left out of the table, and are searched in the packs.
 */
#ifndef ODB_ODB_TABLE_H
#define ODB_ODB_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "odb/odb.h"

struct odb_table_slot {
	uint32_t tag;            /* bytes 8 to 11 of the id */
	uint32_t odb_pos_plus_1; /* 0: free */
};

struct odb_table {
	const struct odb *odb;        /* borrowed */
	struct odb_table_slot *slots; /* owned; NULL: no table */
	/*
	 * number of bits by which the first 64 bits of an id are shifted right;
	 * the result is the slot at which the search for the id begins
	 */
	unsigned shift;
	/* number of slots, which is a power of two, minus 1 */
	size_t mask;
};

/*
 * Makes the table by one pass over all ids. Returns 0, or ERR_NOMEM with
 * table->slots NULL.
 */
int odb_table_init(struct odb_table *table, const struct odb *odb);
void odb_table_release(struct odb_table *table);

/*
 * Finds the canonical position of a packed object, like odb_find_raw().
 * Requires table->slots. Returns false if no pack has the object.
 */
bool odb_table_find(const struct odb_table *table, const uint8_t *raw,
		    uint32_t *odb_pos);

#endif
