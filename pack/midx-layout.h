/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a multi-pack-index whose objects have been chosen: what
 * midx-write.c and midx-compact.c have in common.
 */
#ifndef PACK_MIDX_LAYOUT_H
#define PACK_MIDX_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "pack/midx-write.h"

/* A copy of an object. */
struct pack_midx_copy {
	const uint8_t *id; /* raw; points into its index */
	uint64_t offset;
	uint32_t pack;
	uint32_t rank; /* of its pack: the lowest wins; not looked at here */
};

/* All borrowed. */
struct pack_midx_layout {
	const struct pack_midx_copy *copies; /* by id, each once */
	size_t nr;
	const char *const *names; /* of indexes */
	uint32_t pack_nr;
	uint32_t preferred; /* first in the pseudo-pack; or PACK_MIDX_NO_PACK:
			       packs are in the order of their names */
	uint32_t base_nr;   /* objects in layers below */
	bool with_order;    /* with RIDX and BTMP */
	unsigned version;
	enum hash_algo algo;
};

/*
 * Append the file to *out. 0 or ERR_NOMEM with *out as it was. 16 bytes for
 * each object with an order.
 */
int pack_midx_lay_out(struct buf *out, const struct pack_midx_layout *layout,
		      struct pack_midx_written *written);

#endif
