/* SPDX-License-Identifier: MIT */
/*
 * Writes the bytes of a multi-pack-index whose objects are already chosen.
 * midx-write.c and midx-compact.c share this.
 */
#ifndef PACK_MIDX_LAYOUT_H
#define PACK_MIDX_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "pack/midx-write.h"

/* A copy of an object in a pack. */
struct pack_midx_copy {
	const uint8_t *id; /* raw id, points into a pack index */
	uint64_t offset;
	uint32_t pack;
	uint32_t rank; /* of the pack: the lowest wins; not used here */
};

/* All pointers are borrowed. */
struct pack_midx_layout {
	const struct pack_midx_copy *copies; /* sorted by id, without
					      * duplicates */
	size_t nr;
	const char *const *names; /* names of pack indexes */
	uint32_t pack_nr;
	uint32_t preferred; /* first pack of the bit order;
			     * PACK_MIDX_NO_PACK: packs are in the order of
			     * `names` */
	uint32_t base_nr;   /* number of objects in the layers below */
	bool with_order;    /* write RIDX and BTMP */
	unsigned version;
	enum hash_algo algo;
};

/*
 * Appends the file to *out. Returns 0, or ERR_NOMEM with *out unchanged. With
 * an order it needs 16 bytes of memory per object.
 */
int pack_midx_lay_out(struct buf *out, const struct pack_midx_layout *layout,
		      struct pack_midx_written *written);

#endif
