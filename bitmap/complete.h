/* SPDX-License-Identifier: MIT */
/*
 * Complete bitmaps of commits whose bitmaps are stored as differences, as many
 * as there is memory for.
 *
 * While an index is built each bitmap is ORed into others, and is the other
 * side of the differences of those that come next. An entry that is stored as
 * it is serves by itself. Of the others the complete bitmap is kept; when these
 * take more than the limit, those go that nobody asked for since it was their
 * turn the last time. One that is gone is made again from its differences, up
 * to the first complete one. The newest are always kept.
 */
#ifndef BITMAP_COMPLETE_H
#define BITMAP_COMPLETE_H

#include <stddef.h>
#include <stdint.h>

#include "bitmap/file.h"
#include "ewah/bitset.h"
#include "ewah/ewah.h"

struct bitmap_built;

/* So many of the newest are kept, whatever the limit. */
#define BITMAP_COMPLETE_NEWEST BITMAP_WRITE_XOR_OFFSET

struct bitmap_complete {
	const struct bitmap_built *entries; /* borrowed */
	size_t nr;                          /* entries that there may be */
	struct ewah *kept;                  /* owned, by entry */
	uint8_t *state;         /* owned, by entry: whether it is kept, and was
				   asked for */
	size_t bytes, limit;    /* of those that are kept; 0: no limit */
	size_t end;             /* entries up to the last one met */
	size_t turn;            /* the entry whose turn it is to go */
	struct bitset *scratch; /* borrowed; of as many bits as a bitmap */
};

/* 0 or ERR_NOMEM; release in any case. */
int bitmap_complete_init(struct bitmap_complete *c,
			 const struct bitmap_built *entries, size_t nr,
			 size_t limit, struct bitset *scratch);
void bitmap_complete_release(struct bitmap_complete *c);

/*
 * Keep the complete bitmap of entry `entry`, the last one so far, which is
 * stored as a difference. Takes *bitmap over.
 */
void bitmap_complete_put(struct bitmap_complete *c, size_t entry,
			 struct ewah *bitmap);

/*
 * View the complete bitmap of an entry; valid until the next call. 0 or
 * ERR_NOMEM. *c->scratch may be overwritten.
 */
int bitmap_complete_get(struct bitmap_complete *c, size_t entry,
			struct ewah_view *view);

#endif
