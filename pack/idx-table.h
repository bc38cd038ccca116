/* SPDX-License-Identifier: MIT */
/*
 * A finer fanout over a table of ids, for code that looks up a great many ids.
 * It holds the position of the first id of each range of about four ids. A
 * lookup then reads one place of this table and one place of the ids.
 *
 * The cost is one pass over the ids (some 10 ns each), and four bytes for every
 * two to four ids. Immutable once made.
 */
#ifndef PACK_IDX_TABLE_H
#define PACK_IDX_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pack/ids.h"

struct pack_idx_table {
	const struct pack_ids *ids; /* borrowed */
	/*
	 * owned: by the top bits of an id; the last element is ids->nr. NULL:
	 * no table
	 */
	uint32_t *first;
	/* the range of an id is its first 64 bits >> shift */
	unsigned shift;
};

/*
 * Makes the table. If memory runs out or the ids do not strictly ascend, there
 * is no table, and lookups use pack_ids_find().
 */
void pack_idx_table_init(struct pack_idx_table *table,
			 const struct pack_ids *ids);
void pack_idx_table_release(struct pack_idx_table *table);

/*
 * Prefetches the memory that lookups of these ids will read, so that the memory
 * accesses overlap. Call it for some tens of ids at a time.
 */
void pack_idx_table_prefetch(const struct pack_idx_table *table,
			     const uint8_t *const *raws, size_t nr);

/* Works like pack_ids_find(), with the same results. */
bool pack_idx_table_find(const struct pack_idx_table *table, const uint8_t *raw,
			 uint32_t *ids_pos);

#endif
