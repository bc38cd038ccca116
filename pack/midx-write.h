/* SPDX-License-Identifier: MIT */
/*
 * Writing multi-pack-indexes, whole, into a buffer. The caller decides where
 * the bytes go and when they become visible.
 */
#ifndef PACK_MIDX_WRITE_H
#define PACK_MIDX_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "pack/idx.h"
#include "pack/midx.h"
#include "sys/progress.h"

#define PACK_MIDX_NO_PACK UINT32_MAX

/* A pack to cover. All borrowed. */
struct pack_midx_source {
	const char *name; /* of its index: "pack-<hex>.idx" */
	const struct pack_idx *idx;
	int64_t mtime_ns; /* of the pack */
};

struct pack_midx_request {
	const struct pack_midx_source *packs; /* by name, ascending */
	uint32_t pack_nr;
	uint32_t preferred; /* whose copies win; or PACK_MIDX_NO_PACK */
	bool with_order;    /* write RIDX and BTMP, for a bitmap index */
	/*
	 * On top of a chain: its layers, in any order. Their objects are left
	 * out, and no pack is preferred.
	 */
	const struct pack_midx *const *below;
	size_t below_nr;
	unsigned version; /* 1 or 2 */
	enum hash_algo algo;
	const struct progress_out *progress; /* or NULL */
};

/* What was written, for who goes on to write a bitmap index. */
struct pack_midx_written {
	uint32_t nr; /* objects */
	struct oid checksum;
};

/*
 * Append a whole file to *out. Of an object in several packs the copy in the
 * preferred pack is taken, else that in the newest pack, else (same time) in
 * the first by name. With an order and nothing preferred, the oldest pack with
 * objects is. ERR_INVALID for names out of order and when the preferred pack
 * has no objects ("cannot select preferred pack <name> with no objects");
 * ERR_CORRUPT for an index with an offset it does not have; ERR_NOMEM. On
 * failure *out is as it was. O(n log n) over all objects of the packs; 24 bytes
 * for each object, and 16 more with an order.
 */
int pack_midx_write(struct buf *out, const struct pack_midx_request *request,
		    struct pack_midx_written *written, struct error *err);

/* Neighbouring layers of a chain, to be put into one. All borrowed. */
struct pack_midx_compaction {
	const struct pack_midx *const *layers; /* the lowest first */
	/* Their orders: each bit is where it was. NULL: they have none. */
	const struct pack_midx_order *const *orders;
	bool with_order;  /* write RIDX and BTMP */
	uint32_t base_nr; /* objects of the layers below the new one */
	size_t nr;
};

/*
 * Append one file that says what these layers say, version 2: its packs are not
 * sorted by name but stand in the order of the pseudo-pack, so that bitmaps of
 * these layers and of those above stay right, if base_nr is the lowest one's.
 * ERR_CORRUPT for a layer that
 * takes an object from no pack; ERR_NOMEM. On failure *out is as it was.
 * O(n log n) over their objects; packs are not looked at.
 */
int pack_midx_compact(struct buf *out,
		      const struct pack_midx_compaction *compaction,
		      struct pack_midx_written *written, struct error *err);

#endif
