/* SPDX-License-Identifier: MIT */
/*
 * Writes the bytes of a multi-pack-index. The caller has already chosen one
 * copy of each object. midx-write.c and midx-compact.c use these functions.
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
	/* raw id, points into a pack index */
	const uint8_t *id;
	uint64_t offset;
	uint32_t pack;
	/*
	 * Rank of the pack. If several packs have an object, midx-write.c
	 * chooses the copy in the pack of the lowest rank. Writing the chunks
	 * does not need the rank.
	 */
	uint32_t rank;
};

/* The content of a multi-pack-index to write. All pointers are borrowed. */
struct pack_midx_layout {
	/* one copy of each object, sorted by id */
	const struct pack_midx_copy *copies;
	size_t nr;
	const char *const *names; /* names of pack indexes */
	uint32_t pack_nr;
	/*
	 * number of the pack whose objects have the first bits;
	 * PACK_MIDX_NO_PACK: packs are in the order of `names`
	 */
	uint32_t preferred;
	/* number of objects in the layers below */
	uint32_t base_nr;
	bool with_order; /* write RIDX and BTMP */
	unsigned version;
	enum hash_algo algo;
};

/*
 * Appends the bytes of a multi-pack-index to *out. Returns 0 or ERR_NOMEM.
 * After an error, *out is unchanged. With layout->with_order, the function
 * needs 16 bytes of memory per object.
 */
int pack_midx_lay_out(struct buf *out, const struct pack_midx_layout *layout,
		      struct pack_midx_written *written);

#endif
