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
 * Candidates are sorted by these keys (compare git-pack-objects(1)):
 * - type;
 * - name hash;
 * - external items first, then objects of the tip island (trees and blobs of
 *   clones of depth 1, islands/islands.h), then other objects;
 * - objects in more islands first;
 * - size, the largest first.
 *
 * Two objects of one pack are not compared, because the search that made the
 * pack has compared them. There are three exceptions (delta_order_may_pair()):
 * - the option retry_same_pack is set;
 * - one of the two objects is an external item, and is tried as a base;
 * - the object that would become a delta is marked `retry` (deltas/items.h).
 *   For example, its stored delta cannot be kept, because delta islands forbid
 *   its stored base.
 *
 * If these rules exclude all pairs of a candidate and an object of its window,
 * the candidate is not even read. So the cost of a search depends on the number
 * of new objects.
 *
 * Items may have path groups (object/path-group.h) in the field path_hash. With
 * PATH_GROUP_COMPONENTS, the path group replaces the name hash as a key. With
 * PATH_GROUP_PATH (a hash of the whole path), there are three passes
 * (delta-order.h).
 */
#ifndef DELTAS_DELTA_SEARCH_H
#define DELTAS_DELTA_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
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

/*
 * The window of a delta search: the last candidates that the window has
 * reached. The next candidate is tried as a delta of each of them.
 *
 *	oldest                               newest
 *	[ member | member |  ...  | member | member ]  <- candidate
 *
 * A member's bytes are read, and its delta index is made, on first use. A
 * member that became a base moves to the newest place, because it is likely to
 * become a base again. A candidate that became a delta of the greatest depth
 * cannot be a base and does not enter the window.
 *
 * If objects have islands (islands/islands.h), the window has several parts. A
 * pack has three layers: the objects that HEAD reaches, those that branches and
 * tags add, and the rest. The tip island has the trees and blobs of the newest
 * commits of chosen branches. The window has two parts for each layer: one for
 * the objects of the tip island, and one for all others. Each part is as large
 * as a whole window without islands. In one common part, the many old versions
 * of files would push out the newest versions, and these would find no bases. A
 * base must not be in a later layer than its delta. If the delta is in the tip
 * island, its base must be, too.
 *
 * One window per thread.
 */

struct delta_window;

/*
 * A value in the array `depths` of delta_window_new(). It says that the depth
 * of the item is one more than the depth that its delta base has at present.
 */
#define DELTA_WINDOW_BASE_DEPTH UINT16_MAX

/*
 * Make a window. Returns NULL if there is no memory. All arguments are
 * borrowed.
 * - heights: for each item, the length of the longest delta chain that is built
 *   on the item.
 * - depths: NULL in the first pass over the candidates. In later passes, an
 *   array with one value for each item. Usually the value is the depth of the
 *   item in its delta chain before this pass. There is one exception: an
 *   earlier pass has made the item a delta of an earlier candidate of the same
 *   segment (struct delta_segment). This pass may still change the depth of
 *   this base. So the value is the marker DELTA_WINDOW_BASE_DEPTH, which stands
 *   for the depth of the base plus one. The window updates the array as it
 *   moves.
 */
struct delta_window *delta_window_new(
	const struct packing_items *list,
	const struct delta_search_options *options, const uint16_t *heights,
	uint16_t *depths, struct odb_reader *reader);
void delta_window_free(struct delta_window *w);

/*
 * Empty the window of a delta search. The next candidate is then not compared
 * with the candidates before it.
 */
void delta_window_reset(struct delta_window *w);

/* The best delta that was found for a candidate. */
struct delta_found {
	/* item number of the base; PACKING_NO_ITEM: no delta was found */
	uint32_t base;
	/* malloc()ed, owned by the caller; NULL: no delta was found */
	void *delta;
	size_t len;
};

/*
 * Move the window by one candidate. If the candidate is a target, first search
 * its best base. If the candidate is a delta already, *found is set only to a
 * delta that is better than the present delta. Returns 0 or a negative error
 * code. After an error, *found is empty.
 */
int delta_window_slide(struct delta_window *w, uint32_t item, bool is_target,
		       struct delta_found *found, struct error *err);

#endif
