/* SPDX-License-Identifier: MIT */
/*
 * Copying runs of stored packs.
 *
 * The wanted objects, as a bit set in the order of one pack or of the
 * pseudo-pack of a multi-pack-index, are copied in that order straight from
 * the maps. What lies between two changes is one span: bytes are touched only
 * where the distance of a delta to its base has changed because something
 * between them was left out, and there only the entry's header.
 *
 * An object can be copied when it is no delta, when its base was copied before
 * it (in its own pack a base lies before its deltas), or when a thin pack is
 * asked for and the receiver has the base. All others are left over, to be
 * sent some other way.
 *
 * A delta and its base may be in different packs: each pack has both, but of
 * the base a multi-pack-index has chosen another copy. If that comes first,
 * the delta is copied with a header that names it. What comes later is never
 * named, so that packs with the same objects as deltas of each other make no
 * circle.
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
	const struct bitmap_space *space;   /* borrowed: whose bits these are */
	const struct bitset *want;          /* bit_pos to send */
	const struct bitset *uninteresting; /* bit_pos that the receiver has,
				     for thin bases; NULL: none */
	bool all_packs;            /* copy from all packs, not only from the
				      first (preferred) one */
	bool ofs_delta;            /* else bases are named by id */
	struct progress *progress; /* counts objects; NULL: none */
};

struct reuse_report {
	uint32_t objects;        /* copied */
	uint32_t packs;          /* that some were copied from */
	uint64_t bytes_verbatim; /* of entries copied */
	bool changed_headers;    /* distances to bases were not what they
				    are in the pack */
};

/*
 * Copy into *writer. Bits of `want` that could not be copied are set in
 * *left_over, which is initialised here and the caller's to release, also on
 * failure.
 */
int reuse_write(struct bitset *left_over, const struct reuse_request *request,
		struct pack_writer *writer, struct reuse_report *report,
		struct error *err);

#endif
