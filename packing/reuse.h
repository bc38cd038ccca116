/* SPDX-License-Identifier: MIT */
/*
 * Copies spans of stored packs: the bytes of neighbouring objects.
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
 * - the new pack is thin, and the receiver has the base.
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
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bitmap/space.h"
#include "ewah/bitset.h"
#include "pack/pack.h"
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
	/*
	 * true: copy from all packs; false: copy only from the first
	 * (preferred) pack
	 */
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

/*
 * The state of copying from one pack (struct reuse_part). Each bit of a bitmap
 * index stands for an object of one pack, or of one of the packs of a
 * multi-pack-index. The bits of one pack are consecutive. This range of bits is
 * called a *part*. The state tells which object of the pack each bit stands
 * for, and where copied bytes are in the new pack.
 */

/*
 * Bytes that are copied from a pack to the new pack without a gap. The segment
 * begins at offset `in_off` of the pack, and ends where the next segment
 * begins. Its byte at offset `off` of the pack is at `off - shift` in the new
 * pack, modulo 2^64. (The new offset may be larger than the old one, because
 * new headers can be longer.)
 */
struct reuse_segment {
	uint64_t in_off;
	uint64_t shift;
};

struct reuse_part {
	const struct pack *pack;    /* borrowed */
	const struct pack_rev *rev; /* borrowed from the pack */
	/* The bits of this part are the bit_pos in [first, first + nr). */
	uint32_t first, nr;
	/*
	 * Owned: pack_pos, indexed by bit_pos - first. NULL: each object of the
	 * pack has a bit, so that pack_pos is bit_pos - first.
	 */
	uint32_t *pack_pos;
	/* owned: sorted by in_off, ascending */
	struct reuse_segment *segments;
	size_t segment_nr, segment_alloc;
};

/*
 * Initialise *part for copying objects of one pack of the bit space.
 * `look_ups`: about how many objects will be looked up. Returns 0 if *part is
 * ready, 1 if the bit space contradicts the pack (copy nothing from the pack),
 * or ERR_NOMEM. Cost: O(objects of the pack); less if all objects have bits and
 * look-ups are few.
 */
int reuse_part_init(struct reuse_part *part, const struct bitmap_space *space,
		    const struct bitmap_space_part *bits, size_t look_ups,
		    struct error *err);
void reuse_part_release(struct reuse_part *part);

/* Returns the pack_pos of the object that a bit stands for. */
static inline uint32_t reuse_part_pack_pos(const struct reuse_part *part,
					   uint32_t bit_pos)
{
	uint32_t i = bit_pos - part->first;

	return part->pack_pos ? part->pack_pos[i] : i;
}

/*
 * Find the bit of an object of the pack. Returns false if the object has no
 * bit. Cost: O(log nr) or O(1).
 */
bool reuse_part_bit(const struct reuse_part *part, uint32_t pack_pos,
		    uint32_t *bit_pos);

/*
 * Start a segment: the bytes of the pack from `in_off` on are copied, without a
 * gap, to the new pack from `out_off` on. A gap is a range of bytes that is not
 * copied. Call this function after each gap, before the next entry is written.
 *
 * There is a case in which the call seems unnecessary, but is not: the header
 * of the first entry after the gap grows by the length of the gap. Behind this
 * header, in_off - out_off has the same value as before the gap. But the start
 * of the entry lies in front of the header, where the value is different, so
 * the entry needs a new segment. Returns 0 or ERR_NOMEM.
 */
int reuse_part_map(struct reuse_part *part, uint64_t in_off, uint64_t out_off);

/*
 * Returns the offset in the new pack of an entry that was copied. `in_off`:
 * offset of the entry in the pack from which it was copied.
 */
uint64_t reuse_part_mapped(const struct reuse_part *part, uint64_t in_off);

#endif
