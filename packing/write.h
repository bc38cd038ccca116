/* SPDX-License-Identifier: MIT */
/* Writes the entries of a pack from a list of planned items. */
#ifndef PACKING_WRITE_H
#define PACKING_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "pack/writer.h"
#include "deltas/items.h"
#include "prepared/kept-deltas.h"
#include "packing/packs.h"
#include "sys/progress.h"

/* The numbers of objects and bytes that were written. */
struct write_report {
	uint32_t objects, deltas;
	/* number of objects that were copied as they are stored */
	uint32_t reused;
	/* number of deltas that were copied as they are stored */
	uint32_t reused_deltas;
	/* bytes of zlib streams that were copied as they are stored */
	uint64_t bytes_verbatim;
	/* total bytes of the zlib streams that were newly made for this pack */
	uint64_t bytes_recompressed;
};

struct write_options {
	/* true: name delta bases by their distance; false: by their id */
	bool ofs_delta;
	/*
	 * Keep corruption out of the new pack: check copied entries by the CRCs
	 * in the .idx of their packs, and all other objects by their ids.
	 */
	bool check;
	/* zlib level; -1: zlib's default */
	int compression;
	/*
	 * Borrowed: the file from which PACKING_KEPT items are copied. It
	 * stores these objects whole and compressed. NULL: there are no such
	 * items.
	 */
	const struct kept_deltas *kept;
	/* maximum bytes of the pack, with its trailer; 0: no limit */
	uint64_t max_len;
	/* progress, counted in objects; NULL: none */
	struct progress *progress;
};

/*
 * Returns the order of writing: a malloc()ed array of the items that are not
 * external, *nr of them. The items are sorted by these four criteria, the most
 * important first:
 * 1. The core island comes before all other objects. This is the delta island
 *    that pack.islandCore names (git-pack-objects(1)).
 * 2. The types come in this order: commits, tags, trees, blobs.
 * 3. The tip island comes before all other objects. These are the trees at
 *    chosen tips of branches, and all objects that these trees reach.
 * 4. The layers (enum islands_layer) come in their order: objects that HEAD
 *    reaches, those that only branches or tags reach, all others. In the tip
 *    island, objects that HEAD reaches come last.
 * Items that are equal in all of these keep the order of the list.
 *
 * There is one exception: the base of a delta is moved before the delta. An
 * offset delta can only name a base that is before it in the pack.
 *
 * Returns NULL if there is no memory.
 */
uint32_t *write_order(const struct packing_items *list, size_t *nr);

/*
 * Write the items of `order`, *nr of them. Sets out_off and crc of each, and
 * adds to *report. Stops before an item that would make the pack longer than
 * max_len; *nr is then reduced to the number that was written, at least 1.
 * Returns 0 or a negative error code.
 */
int write_items(struct packing_items *list, const uint32_t *order, size_t *nr,
		const struct packs *packs, struct pack_writer *writer,
		const struct write_options *options,
		struct write_report *report, struct error *err);

/*
 * Prepare the remaining items for the next pack, after a pack became full. A
 * delta whose base is in the written pack becomes an object that is stored
 * whole.
 */
void write_undeltify(struct packing_items *list, const uint32_t *order,
		     size_t nr);

#endif
