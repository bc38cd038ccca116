/* SPDX-License-Identifier: MIT */
/*
 * Writes multi-pack-indexes into a buffer. The caller decides where the bytes
 * go and when they become visible.
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

/* A pack that a multi-pack-index will cover. All pointers are borrowed. */
struct pack_midx_source {
	/* name of the pack's index: "pack-<hex>.idx" */
	const char *name;
	const struct pack_idx *idx;
	/* modification time of the pack */
	int64_t mtime_ns;
};

struct pack_midx_request {
	const struct pack_midx_source *packs; /* sorted by name */
	uint32_t pack_nr;
	/*
	 * number of the pack whose copies of objects are chosen first; or
	 * PACK_MIDX_NO_PACK
	 */
	uint32_t preferred;
	/*
	 * true: write the bit order of the new multi-pack-index, in the chunks
	 * RIDX and BTMP, which a bitmap index needs
	 */
	bool with_order;
	/*
	 * The lower layers of the chain, in any order, if the file becomes the
	 * top layer of a chain. The file omits objects of these layers, and has
	 * no preferred pack.
	 */
	const struct pack_midx *const *below;
	size_t below_nr;
	unsigned version; /* 1 or 2 */
	enum hash_algo algo;
	const struct progress_out *progress; /* or NULL */
};

/*
 * Facts about the multi-pack-index that was written, for writing a bitmap index
 * next.
 */
struct pack_midx_written {
	uint32_t nr; /* objects */
	struct oid checksum;
};

/*
 * Appends the bytes of a multi-pack-index to *out. If several packs contain an
 * object, the index refers to one copy:
 * - the copy in the preferred pack, if there is one;
 * - otherwise the copy in the newest pack;
 * - among packs of the same age, the copy in the pack whose name sorts first.
 *
 * If a bit order is requested without a preferred pack, the oldest pack with
 * objects is preferred. An upper layer of a chain has no preferred pack.
 *
 * Returns 0, or one of these errors; *out is then unchanged:
 * - ERR_INVALID: the pack names are not sorted, or the preferred pack is empty
 *   ("cannot select preferred pack <name> with no objects");
 * - ERR_CORRUPT: the index of a pack lacks an offset;
 * - ERR_NOMEM.
 *
 * Takes O(n log n) time for n objects in all packs together. Needs 24 bytes of
 * memory per object, or 40 bytes with a bit order.
 */
int pack_midx_write(struct buf *out, const struct pack_midx_request *request,
		    struct pack_midx_written *written, struct error *err);

/*
 * Adjacent layers of a chain of multi-pack-indexes to combine. All pointers are
 * borrowed.
 */
struct pack_midx_compaction {
	const struct pack_midx *const *layers; /* lowest first */
	/*
	 * The bit order of each layer. The objects of the new multi-pack-index
	 * have the same bit positions as before in their layers. NULL: the
	 * layers have no bit orders, so there are no old positions to keep.
	 */
	const struct pack_midx_order *const *orders;
	bool with_order; /* write RIDX and BTMP */
	/* number of objects in the layers below the new layer */
	uint32_t base_nr;
	size_t nr;
};

/*
 * Appends one multi-pack-index of version 2 that combines the layers. Its packs
 * are listed in the order in which the bitmaps have the bits of their objects
 * (pseudo-pack order), not sorted by name. So each object keeps its bit, and
 * the bitmaps of these layers and of higher layers stay valid. base_nr must be
 * the base_nr of the lowest combined layer.
 *
 * Returns 0 or an error: ERR_CORRUPT if a layer names no valid pack for an
 * object, or ERR_NOMEM. After an error, *out is unchanged. O(n log n) for the
 * objects; packs are not read.
 */
int pack_midx_compact(struct buf *out,
		      const struct pack_midx_compaction *compaction,
		      struct pack_midx_written *written, struct error *err);

#endif
