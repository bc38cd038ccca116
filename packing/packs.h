/* SPDX-License-Identifier: MIT */
/*
 * Positions in the packs of a snapshot: where the stored bytes of an object
 * begin and end, and which object is the base of a stored delta.
 *
 * Tables are made for the packs that are asked about. One thread makes them
 * (packs_prepare()); then threads may share them.
 */
#ifndef PACKING_PACKS_H
#define PACKING_PACKS_H

#include <stdint.h>

#include "base/error.h"
#include "odb/odb.h"
#include "pack/entry.h"

struct packs_table {
	const struct pack_rev *rev; /* borrowed; NULL: not prepared */
	uint32_t *pack_pos;         /* owned: by idx_pos; NULL: looked up in
				       `rev`, which is not proven then */
};

struct packs {
	const struct odb *odb;      /* borrowed */
	struct packs_table *tables; /* owned: by pack number */
};

/* The stored bytes of an object. */
struct packs_stored {
	const uint8_t *bytes; /* the entry, header first; points into the map */
	size_t len;           /* whole entry */
	uint64_t off;         /* of the entry in its pack */
	struct pack_entry entry; /* the parsed header */
};

int packs_init(struct packs *p, const struct odb *odb, struct error *err);
void packs_release(struct packs *p);

/*
 * Make ready one pack, if that was not done, for about so many look-ups: O(its
 * objects) if they are many, O(1) if they are few.
 */
int packs_prepare(struct packs *p, uint32_t pack_nr, size_t look_ups,
		  struct error *err);

/*
 * Find the stored bytes of the object at idx_pos of a prepared pack. 0 or
 * ERR_CORRUPT.
 */
int packs_stored(struct packs_stored *stored, const struct packs *p,
		 uint32_t pack_nr, uint32_t idx_pos, struct error *err);

/*
 * idx_pos, in the same pack, of the base of a stored delta. Returns 1, 0 when
 * the pack does not have it, or ERR_CORRUPT.
 */
int packs_base(uint32_t *base_idx_pos, const struct packs *p, uint32_t pack_nr,
	       uint32_t idx_pos, const struct packs_stored *stored,
	       struct error *err);

#endif
