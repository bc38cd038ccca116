/* SPDX-License-Identifier: MIT */
/*
 * A table of ascending ids with its fanout, as pack indexes,
 * multi-pack-indexes and commit-graphs have it:
 *
 *	fanout      256 x be32   number of ids whose first byte is <= i
 *	ids         nr x hash    ascending; `stride` bytes apart
 *
 * Looking up depends on the fanout for memory safety only; ids out of order
 * make it miss.
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

/* Immutable; borrows the file's bytes. */
struct pack_ids {
	const uint8_t *fanout; /* 256 be32, ascending */
	const uint8_t *first;  /* the id at position 0 */
	size_t stride;         /* bytes from one id to the next */
	uint32_t nr;
	enum hash_algo algo;
};

/*
 * How many ids a fanout counts: 0 and *nr set, or ERR_CORRUPT when it does not
 * ascend. PACK_FANOUT_LEN bytes are there, `off` bytes into the file `name`.
 */
int pack_fanout_check(uint32_t *nr, const uint8_t *fanout, const char *name,
		      uint64_t off, struct error *err);

/* Raw id at a position < nr. */
static inline const uint8_t *pack_ids_at(const struct pack_ids *ids,
					 uint32_t pos)
{
	return ids->first + ids->stride * pos;
}

/* The half-open range of ids whose first byte is `byte`, by the fanout. */
static inline void pack_ids_range(const struct pack_ids *ids, uint8_t byte,
				  uint32_t *first, uint32_t *last)
{
	*first = byte ? load_be32(ids->fanout + 4 * (byte - 1)) : 0;
	*last = load_be32(ids->fanout + 4 * byte);
}

/*
 * Find an id by its raw bytes. True and *ids_pos when there. One guess inside
 * the fanout bucket, growing steps from there, then binary search; no
 * allocation.
 */
bool pack_ids_find(const struct pack_ids *ids, const uint8_t *raw,
		   uint32_t *ids_pos);

/*
 * Find all ids that start with the first `hex_len` digits of `prefix`:
 * [*first, *last) is set; empty when none does.
 */
void pack_ids_find_prefix(const struct pack_ids *ids, const struct oid *prefix,
			  size_t hex_len, uint32_t *first, uint32_t *last);

/*
 * Whether the id at a position lies in its fanout range and not before its
 * predecessor. 0, or ERR_CORRUPT; equal ids are for the caller to judge.
 * `bytes`: where the file `name` begins.
 */
int pack_ids_check(const struct pack_ids *ids, uint32_t ids_pos,
		   const uint8_t *bytes, const char *name, struct error *err);

#endif
