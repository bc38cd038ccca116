/* SPDX-License-Identifier: MIT */
/*
 * Copies runs of stored packs.
 *
 * The wanted objects are a bitmap in the order of one pack, or of the
 * pseudo-pack of a multi-pack-index. They are copied in that order from the
 * mapped files. Consecutive entries that do not change are one span. If an
 * object between a delta and its base was left out, only the distance in the
 * delta's header is changed.
 *
 * An object that cannot be copied is left over, and is sent in another way. An
 * object can be copied if one of these holds:
 * - it is stored whole;
 * - its base was copied before (in its own pack, a base is before its deltas);
 * - the pack is thin and the receiver has the base.
 *
 * A delta and its base may be copied from different packs: the delta's pack has
 * both objects, but the multi-pack-index has chosen another copy of the base.
 * If the chosen copy was written before the delta, the delta is copied with a
 * new header that names this copy. Otherwise the delta is left over. So packs
 * that store the same objects as deltas of each other make no cycle.
 */
#ifndef PACKING_REUSE_H
#define PACKING_REUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "bitmap/space.h"
#include "ewah/bitset.h"
#include "pack/writer.h"
#include "sys/progress.h"

struct reuse_request {
	/*
	 * Borrowed: the bit space, which says for which object each bit of
	 * `want` stands.
	 */
	const struct bitmap_space *space;
	/* bit_pos of the objects to send */
	const struct bitset *want;
	/*
	 * The bit_pos of objects that the receiver has. In a thin pack, they
	 * may be bases of deltas. NULL: none.
	 */
	const struct bitset *uninteresting;
	/* Copy from all packs. false: only from the first (preferred) pack. */
	bool all_packs;
	/*
	 * true: the receiver reads OFS_DELTA. false: deltas name their bases by
	 * id.
	 */
	bool ofs_delta;
	/* receives the progress, counted in objects; NULL: none */
	struct progress *progress;
};

struct reuse_report {
	/* number of objects that were copied */
	uint32_t objects;
	/* number of packs from which objects were copied */
	uint32_t packs;
	/* total bytes of the copied entries */
	uint64_t bytes_verbatim;
	/*
	 * true: the distance to the base of some deltas differs from that in
	 * the stored pack
	 */
	bool changed_headers;
};

/*
 * Copy objects into *writer. *left_over is initialised here, and receives the
 * bits of `want` that could not be copied. The caller releases *left_over, also
 * on failure. Returns 0 or a negative error code.
 */
int reuse_write(struct bitset *left_over, const struct reuse_request *request,
		struct pack_writer *writer, struct reuse_report *report,
		struct error *err);

#endif
