/* SPDX-License-Identifier: MIT */
/*
 * A table of ascending ids with its fanout. Pack indexes, multi-pack-indexes
 * and commit-graphs contain such tables:
 *
 * 	fanout      256 x be32   number of ids whose first byte is <= i
 * 	ids         nr x hash    ascending; `stride` bytes apart
 *
 * Lookups are memory-safe if the fanout is valid. If ids are out of order, a
 * lookup may miss an id.
 */
#ifndef PACK_IDS_H
#define PACK_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/error.h"
#include "object/oid.h"

#define PACK_FANOUT_LEN ((size_t)256 * 4) /* bytes */

/* A table of ids. Immutable; borrows the file's bytes. */
struct pack_ids {
	const uint8_t *fanout; /* 256 be32, ascending */
	const uint8_t *first;  /* the id at position 0 */
	/* distance in bytes from one id to the next */
	size_t stride;
	uint32_t nr;
	enum hash_algo algo;
};

/*
 * Verifies that a fanout ascends. *nr is set to the number of ids. The fanout
 * has PACK_FANOUT_LEN bytes and is at offset `off` of the file `name`. Returns
 * 0 or ERR_CORRUPT.
 */
int pack_fanout_check(uint32_t *nr, const uint8_t *fanout, const char *name,
		      uint64_t off, struct error *err);

/* Returns the raw id at position `pos` < nr of the table. */
static inline const uint8_t *pack_ids_at(const struct pack_ids *ids,
					 uint32_t pos)
{
	return ids->first + ids->stride * pos;
}

/*
 * Returns the half-open range of ids whose first byte is `byte`, according to
 * the fanout.
 */
static inline void pack_ids_range(const struct pack_ids *ids, uint8_t byte,
				  uint32_t *first, uint32_t *last)
{
	*first = byte ? load_be32(ids->fanout + 4 * (byte - 1)) : 0;
	*last = load_be32(ids->fanout + 4 * byte);
}

/*
 * Finds an id by its raw bytes. Returns true with its position in *ids_pos, or
 * false if the id is not in the table. The search estimates the position once
 * from the fanout range, then probes at growing distances, and ends with a
 * binary search.
 */
bool pack_ids_find(const struct pack_ids *ids, const uint8_t *raw,
		   uint32_t *ids_pos);

/*
 * Finds all ids that start with the first `hex_len` digits of `prefix`. Their
 * positions are [*first, *last), which may be empty.
 */
void pack_ids_find_prefix(const struct pack_ids *ids, const struct oid *prefix,
			  size_t hex_len, uint32_t *first, uint32_t *last);

/*
 * Verifies that the id at a position is in its fanout range and not less than
 * the id before it. Equal ids are accepted. Returns 0 or ERR_CORRUPT. `bytes`
 * is the start of the file `name`.
 */
int pack_ids_check(const struct pack_ids *ids, uint32_t ids_pos,
		   const uint8_t *bytes, const char *name, struct error *err);

/*
 * A finer fanout over a table of ids, for code that looks up a great many ids.
 * The table divides the ids into ranges of two to four ids on average, and
 * holds the position of the first id of each range. A lookup then reads one
 * place of this table and one place of the ids.
 *
 * The cost is one pass over the ids (some 10 ns each), and four bytes for each
 * range. The table is immutable once made.
 */
struct pack_idx_table {
	const struct pack_ids *ids; /* borrowed */
	/*
	 * owned array, indexed by range: the position of the range's first id;
	 * the last element is ids->nr. NULL: there is no table
	 */
	uint32_t *first;
	/*
	 * number of bits by which the first 64 bits of an id are shifted right;
	 * the result is the number of the id's range
	 */
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
 * Prefetches the memory that pack_idx_table_find() will read for the `nr` ids,
 * so that the memory accesses overlap. Call it for some tens of ids at a time.
 */
void pack_idx_table_prefetch(const struct pack_idx_table *table,
			     const uint8_t *const *raws, size_t nr);

/*
 * Finds an id by its raw bytes, and returns what pack_ids_find() would return:
 * true with the position in *ids_pos, or false if the id is not in the table.
 */
bool pack_idx_table_find(const struct pack_idx_table *table, const uint8_t *raw,
			 uint32_t *ids_pos);

#endif
