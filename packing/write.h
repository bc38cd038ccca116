/* SPDX-License-Identifier: MIT */
/*
 * Writing the entries of a pack from a planned list of items.
 */
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

/* What was written, by how it came about. */
struct write_report {
	uint32_t objects, deltas;
	uint32_t reused, reused_deltas; /* copied as stored */
	uint64_t bytes_verbatim;        /* zlib streams copied as stored */
	uint64_t bytes_recompressed;    /* zlib streams made anew */
};

struct write_options {
	bool ofs_delta;   /* bases by distance; else by id */
	bool check;       /* corruption must not spread into the new pack:
			     compare copied entries with their index's CRC, all
			     other objects with their ids */
	int compression;  /* zlib level, -1: default */
	uint64_t max_len; /* bytes of the pack with its trailer; 0: any */
	struct progress *progress; /* counts objects; NULL: none */
};

/*
 * The order of writing: malloc()ed array of the items that are not external,
 * *nr of them; NULL when out of memory. The core island first, then the others;
 * of each commits, tags, trees, blobs; within a type the tip first; and so far
 * in the order of the list. A base always comes before its deltas, so that
 * distances are positive.
 */
uint32_t *write_order(const struct packing_items *list, size_t *nr);

/*
 * Write the items of `order`, *nr of them. Sets out_off and crc of each. Adds
 * to *report. Ends early, with *nr less, before an item that would make the
 * pack longer than max_len; but one is always written.
 */
int write_items(struct packing_items *list, const uint32_t *order, size_t *nr,
		const struct packs *packs, struct pack_writer *writer,
		const struct write_options *options,
		struct write_report *report, struct error *err);

/*
 * For items that go into another pack than those written so far: what would
 * be a delta against one of these is stored whole.
 */
void write_drop_bases(struct packing_items *list, const uint32_t *order,
		      size_t nr);

#endif
