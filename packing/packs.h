/* SPDX-License-Identifier: MIT */
/*
 * Positions in the packs of a snapshot: where the stored bytes of an object
 * begin and end, and which object is the base of a stored delta.
 *
 * Tables are made for each pack when needed, by one thread (packs_prepare()).
 * Afterwards threads may share them.
 */
#ifndef PACKING_PACKS_H
#define PACKING_PACKS_H

#include <stdint.h>

#include "base/error.h"
#include "odb/odb.h"
#include "pack/entry.h"

struct packs_table {
	/*
	 * borrowed: the order of the pack's objects; NULL: the pack is not
	 * prepared
	 */
	const struct pack_rev *rev;
	/*
	 * Owned: pack_pos, indexed by idx_pos. NULL: positions are looked up in
	 * `rev`, whose order was not verified.
	 */
	uint32_t *pack_pos;
};

struct packs {
	const struct odb *odb; /* borrowed */
	/* owned: array of the tables of packs, indexed by pack number */
	struct packs_table *tables;
};

/* The bytes of an object as a pack stores them. */
struct packs_stored {
	/* the whole entry, with its header; points into the mapped pack */
	const uint8_t *bytes;
	/* number of bytes of the whole entry */
	size_t len;
	/* offset of the entry in its pack */
	uint64_t off;
	/* the parsed header of the entry */
	struct pack_entry entry;
};

int packs_init(struct packs *p, const struct odb *odb, struct error *err);
void packs_release(struct packs *p);

/*
 * Prepare tables of one pack for about `look_ups` look-ups. If the pack is
 * prepared already, nothing is done. Returns 0 or ERR_NOMEM. Cost: O(objects of
 * the pack) if the look-ups are many, else O(1).
 */
int packs_prepare(struct packs *p, uint32_t pack_nr, size_t look_ups,
		  struct error *err);

/*
 * Find the stored bytes of the object at idx_pos of a prepared pack. Returns 0
 * or a negative error code: ERR_CORRUPT if the entry is damaged.
 */
int packs_stored(struct packs_stored *stored, const struct packs *p,
		 uint32_t pack_nr, uint32_t idx_pos, struct error *err);

/*
 * Find the base of a stored delta in the same pack. Returns 1 with
 * *base_idx_pos set, 0 if the pack does not have the base, or a negative error
 * code.
 */
int packs_base(uint32_t *base_idx_pos, const struct packs *p, uint32_t pack_nr,
	       uint32_t idx_pos, const struct packs_stored *stored,
	       struct error *err);

#endif
