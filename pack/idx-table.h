/* SPDX-License-Identifier: MIT */
/*
 * A finer fanout over a table of ids, for those who look up a great many ids:
 * the position of the first id of each range of some four ids. A look-up then
 * reads one place of the table and one of the ids.
 *
 * It costs one pass over the ids (some 10 ns each) and four bytes for every
 * two to four of them. Immutable once made.
 */
#ifndef PACK_IDX_TABLE_H
#define PACK_IDX_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pack/ids.h"

struct pack_idx_table {
	const struct pack_ids *ids; /* borrowed */
	uint32_t *first; /* owned: by the top bits of an id; one past the last
			    range there is ids->nr. NULL: no table */
	unsigned shift;  /* an id's first 64 bits >> shift: its range */
};

/*
 * Make the table. Without one, for want of memory or because ids do not
 * strictly ascend, look-ups go the plain way.
 */
void pack_idx_table_init(struct pack_idx_table *table,
			 const struct pack_ids *ids);
void pack_idx_table_release(struct pack_idx_table *table);

/*
 * Start to load what look-ups of these ids will read, so that they wait for
 * memory together and not one after the other. Some tens of ids at a time.
 */
void pack_idx_table_prefetch(const struct pack_idx_table *table,
			     const uint8_t *const *raws, size_t nr);

/* As pack_ids_find(), with the same answers. */
bool pack_idx_table_find(const struct pack_idx_table *table, const uint8_t *raw,
			 uint32_t *ids_pos);

#endif
