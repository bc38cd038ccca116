/* SPDX-License-Identifier: MIT */
/*
 * Searches deltas: a window slides over candidates, which are sorted so that
 * similar objects are neighbours.
 *
 * Candidates are items that are stored whole so far (PACKING_WHOLE and
 * PACKING_COPY). They have at least 50 bytes, and at most the big-file
 * threshold. External items (objects that the receiver has) are candidates too,
 * but only as bases. Blobs whose paths have the attribute delta unset are no
 * candidates (names_apply_attrs()).
 *
 * The order is type, name hash, external items first, size descending, as
 * git-pack-objects(1) describes. Among objects with the same name, objects of
 * the tip island come first, and then objects that are in more islands.
 *
 * Two objects of one pack are not compared, because the search that made the
 * pack has compared them. The exception is an object whose stored base an
 * island forbids (`retry`). A candidate that may not be paired with any object
 * of its window is not even read. So the cost of a search depends on the number
 * of new objects.
 *
 * If items have path hashes (object/path-group.h), these are used in place of
 * name hashes. If path hashes stand for whole paths, there are three passes
 * (delta-order.h).
 */
#ifndef DELTAS_DELTA_SEARCH_H
#define DELTAS_DELTA_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "deltas/items.h"
#include "sys/progress.h"

struct delta_search_options {
	/* number of threads; 0: as many as processors */
	unsigned threads;
	/*
	 * Number of candidates that each object is compared with; 0: no search.
	 */
	unsigned window;
	/* Maximum length of a delta chain. Values above 4095 mean 4095. */
	unsigned depth;
	/*
	 * What the path hashes of the items are computed from: names, or whole
	 * paths.
	 */
	enum path_grouping grouping;
	/*
	 * Maximum bytes of objects in the window of each thread; 0: no limit.
	 */
	uint64_t window_memory;
	/* Maximum bytes of deltas that are kept in memory; 0: no limit. */
	uint64_t cache_size;
	/* maximum bytes of one delta that is kept in memory; 0: no limit */
	uint64_t cache_limit;
	uint64_t big_file_threshold; /* bytes */
	/* zlib level for deltas that are kept; -1: zlib's default */
	int compression;
	/* Check the ids of all objects that the search reads. */
	bool check_ids;
	/*
	 * Try all pairs of objects, also two objects of one pack, as `repack
	 * -f` does.
	 */
	bool retry_same_pack;
	/* progress of "Compressing objects"; NULL: none */
	const struct progress_out *progress;
};

/*
 * Search deltas for the items. An item becomes PACKING_DELTA if a delta is
 * smaller than half the object; for a base with a long delta chain, the limit
 * is lower. The fields base and delta_size of such an item are set. If the
 * cache limits allow, the deflated delta is kept.
 *
 * Delta chains have at most `depth` deltas, and no cycles. PACKING_COPY_DELTA
 * items of a chain count too. The result does not depend on the number of
 * threads. Returns 0 or a negative error code.
 */
int delta_search_run(struct packing_items *list,
		     const struct delta_search_options *options,
		     struct error *err);

/*
 * Make the delta of a PACKING_DELTA item again if its bytes were not kept. Sets
 * *delta to the deflated bytes (malloc()ed), and *delta_len to their number.
 * `reader` belongs to the calling thread. Returns 0 or a negative error code.
 */
int delta_search_remake(const struct packing_items *list, uint32_t item,
			struct odb_reader *reader, int compression,
			uint8_t **delta, size_t *delta_len, struct error *err);

#endif
