/* SPDX-License-Identifier: MIT */
/* Writing the entries of a pack from a planned list of items. */
#ifndef PACKING_WRITE_H
#define PACKING_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "pack/writer.h"
#include "packing/items.h"
#include "packing/packs.h"
#include "sys/progress.h"

/* Counts of the objects written. */
struct write_report {
	uint32_t objects, deltas;
	uint32_t reused, reused_deltas; /* copied as stored */
	/* zlib streams copied as stored */
	uint64_t bytes_verbatim;
	uint64_t bytes_recompressed; /* zlib streams made anew */
};

struct write_options {
	/* name bases by distance; else by id */
	bool ofs_delta;
	/*
	 * Keep corruption out of the new pack: compare copied entries with the
	 * CRC in their index, all other objects with their ids.
	 */
	bool check;
	int compression; /* zlib level, -1: default */
	/* bytes of the pack with its trailer; 0: no limit */
	uint64_t max_len;
	/* counts objects; NULL: none */
	struct progress *progress;
};

/*
 * The order of writing: a malloc()ed array of the items that are not external,
 * *nr of them. The core island comes first, then the other objects. Within
 * each: commits, tags, trees, blobs; of each type the tip first; then the order
 * of the list. A base always comes before its deltas, so that distances are
 * positive. Returns NULL if memory is exhausted.
 */
uint32_t *write_order(const struct packing_items *list, size_t *nr);

/*
 * Write the items of `order`, *nr of them. Sets out_off and crc of each and
 * adds to *report. Stops before an item that would make the pack longer than
 * max_len; *nr is then less. At least one item is written. Returns 0 or a
 * negative error code.
 */
int write_items(struct packing_items *list, const uint32_t *order, size_t *nr,
		const struct packs *packs, struct pack_writer *writer,
		const struct write_options *options,
		struct write_report *report, struct error *err);

/*
 * Prepare items for another pack than the items written so far. A delta whose
 * base was written becomes a whole object.
 */
void write_drop_bases(struct packing_items *list, const uint32_t *order,
		      size_t nr);

#endif
