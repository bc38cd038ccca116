/* SPDX-License-Identifier: MIT */
/*
 * The delta search: a window slides over the candidates, which are sorted so
 * that similar objects are neighbours.
 *
 * Candidates are the items stored whole so far (PACKING_WHOLE and PACKING_COPY)
 * of at least 50 bytes and at most the big-file threshold. External items are
 * candidates too, but only as bases. Blobs whose paths have the attribute delta
 * unset are no candidates (names_apply_attrs()).
 *
 * The order is type, name hash, external items first, size descending, as
 * git-pack-objects(1) describes. Objects of the tip come before other objects
 * of their name, and so do objects of more islands.
 *
 * Two objects of one pack are not tried against each other: the search that
 * made the pack has done that. They are tried if an island forbids the stored
 * base (`retry`). A candidate that may not be paired with any object of its
 * window is not even read. So the cost of a search follows the number of new
 * objects.
 *
 * If items have path hashes (object/name-group.h), these take the place of name
 * hashes. If path hashes stand for whole paths, there are three passes
 * (delta-order.h).
 */
#ifndef PACKING_DELTA_SEARCH_H
#define PACKING_DELTA_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "packing/items.h"
#include "sys/progress.h"

struct delta_search_options {
	unsigned threads; /* 0: as many as processors */
	/* Candidates that each object is compared with; 0: no search. */
	unsigned window;
	/* longest delta chain; more than 4095: 4095 */
	unsigned depth;
	/* What the path hashes of the items stand for. */
	enum name_grouping grouping;
	/* bytes per thread; 0: no limit */
	uint64_t window_memory;
	/* Bytes of deltas kept in memory until written; 0: no limit. */
	uint64_t cache_size;
	/* Bytes: larger deltas are not kept in memory; 0: no limit. */
	uint64_t cache_limit;
	uint64_t big_file_threshold; /* bytes */
	/* zlib level of kept deltas, -1: default */
	int compression;
	/* check the ids of all objects that are read */
	bool check_ids;
	/* try all pairs, as repack -f does */
	bool retry_same_pack;
	const struct progress_out *progress; /* "Compressing objects" */
};

/*
 * Search deltas for the items. An item becomes PACKING_DELTA if a delta smaller
 * than half the object is found (smaller still for a deep base). Its base,
 * delta_size and, within the cache limits, the deflated delta are set.
 *
 * Delta chains, including PACKING_COPY_DELTA items, have at most `depth` deltas
 * and no cycles. The result does not depend on the number of threads. Returns 0
 * or a negative error code.
 */
int delta_search_run(struct packing_items *list,
		     const struct delta_search_options *options,
		     struct error *err);

/*
 * Make the delta of a PACKING_DELTA item again if its bytes were not kept.
 * *delta receives malloc()ed, deflated bytes, *delta_len their number. `reader`
 * belongs to the calling thread. Returns 0 or a negative error code.
 */
int delta_search_remake(const struct packing_items *list, uint32_t item,
			struct odb_reader *reader, int compression,
			uint8_t **delta, size_t *delta_len, struct error *err);

#endif
