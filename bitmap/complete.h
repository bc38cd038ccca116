/* SPDX-License-Identifier: MIT */
/*
 * Keeps whole bitmaps of entries that are stored as XORs, up to a limit of
 * memory.
 *
 * While an index is built, the bitmap of an entry is ORed into bitmaps of
 * descendants, and later bitmaps are XORed with it. Both need the whole bitmap.
 * If the entry is stored whole, the stored bitmap serves. For any other entry a
 * copy of the whole bitmap is kept here.
 *
 * If the bitmaps exceed the limit, some are dropped by the clock algorithm. A
 * pointer goes round all entries, and drops those that were not used since its
 * last visit. A dropped bitmap is made again by decoding its XOR chain, up to
 * the first whole bitmap. The newest bitmaps are never dropped.
 */
#ifndef BITMAP_COMPLETE_H
#define BITMAP_COMPLETE_H

#include <stddef.h>
#include <stdint.h>

#include "bitmap/file.h"
#include "ewah/bitset.h"
#include "ewah/ewah.h"

struct bitmap_built;

/* Number of newest entries whose whole bitmaps are never dropped. */
#define BITMAP_COMPLETE_NEWEST BITMAP_WRITE_XOR_OFFSET

struct bitmap_complete {
	const struct bitmap_built *entries; /* borrowed */
	/*
	 * number of elements of `kept` and `state`, which is the number of
	 * entries that the finished index will have at most
	 */
	size_t nr;
	struct ewah *kept; /* owned, indexed by entry */
	/*
	 * owned array, indexed by entry: state of the whole bitmap: not kept,
	 * kept, or kept and used since the last visit of the clock algorithm
	 */
	uint8_t *state;
	/*
	 * `bytes`: total size of the kept bitmaps; `limit`: the maximum of
	 * `bytes`, or 0 if there is none
	 */
	size_t bytes, limit;
	/* number of entries that exist so far, with or without a kept bitmap */
	size_t end;
	/* index of the entry that the clock algorithm visits next */
	size_t turn;
	/* borrowed: scratch memory with as many bits as a bitmap has */
	struct bitset *scratch;
};

/*
 * Initialises *c. Returns 0 or ERR_NOMEM. The caller releases *c in any case.
 */
int bitmap_complete_init(struct bitmap_complete *c,
			 const struct bitmap_built *entries, size_t nr,
			 size_t limit, struct bitset *scratch);
void bitmap_complete_release(struct bitmap_complete *c);

/*
 * Keeps the whole bitmap of an entry that is stored as an XOR. The entry must
 * be the newest one. Takes over *bitmap.
 */
void bitmap_complete_put(struct bitmap_complete *c, size_t entry,
			 struct ewah *bitmap);

/*
 * Sets *view to the whole bitmap of an entry, valid until the next call. May
 * overwrite *c->scratch. Returns 0 or ERR_NOMEM.
 */
int bitmap_complete_get(struct bitmap_complete *c, size_t entry,
			struct ewah_view *view);

#endif
