/* SPDX-License-Identifier: MIT */
/*
 * Copying runs of stored packs.
 *
 * The wanted objects are a bitmap in the order of one pack, or of the
 * pseudo-pack of a multi-pack-index. They are copied in that order from the
 * mapped files. Consecutive entries that do not change are one span. If an
 * object between a delta and its base was left out, only the distance in the
 * delta's header is changed.
 *
 * An object can be copied if one of these holds; all others are left over, to
 * be sent another way:
 * - it is stored whole;
 * - its base was copied before (in its own pack, a base is before its deltas);
 * - the pack is thin and the receiver has the base.
 *
 * A delta and its base may be in different packs. Each pack has both objects,
 * but the multi-pack-index has chosen another copy of the base. If that copy
 * comes first, the delta is copied with a new header that names the base. A
 * base that comes later is never named. So packs that store the same objects as
 * deltas of each other make no cycle.
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
	/* Borrowed: the bit space of `want`. */
	const struct bitmap_space *space;
	const struct bitset *want; /* bit_pos to send */
	/*
	 * bit_pos that the receiver has, for bases of a thin pack; NULL: none.
	 */
	const struct bitset *uninteresting;
	/* Copy from all packs, not only from the first (preferred) one. */
	bool all_packs;
	/* else bases are named by id */
	bool ofs_delta;
	/* counts objects; NULL: none */
	struct progress *progress;
};

struct reuse_report {
	uint32_t objects; /* objects copied */
	/* packs from which objects were copied */
	uint32_t packs;
	/* bytes of the copied entries */
	uint64_t bytes_verbatim;
	/* Some distances to bases differ from those in the pack. */
	bool changed_headers;
};

/*
 * Copy objects into *writer. *left_over is initialised and receives the bits of
 * `want` that could not be copied. The caller releases it, also on failure.
 * Returns 0 or a negative error code.
 */
int reuse_write(struct bitset *left_over, const struct reuse_request *request,
		struct pack_writer *writer, struct reuse_report *report,
		struct error *err);

#endif
