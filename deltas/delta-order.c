/* SPDX-License-Identifier: MIT */
/* Chooses, sorts and splits the candidates of a delta search. */
#include "base/mem.h"
#include "base/sort.h"
#include "deltas/delta-order.h"

/*
 * Minimum number of bytes of a candidate for a delta. For a smaller object, the
 * header of a delta costs too much.
 */
#define SIZE_MIN 50
/*
 * Estimated fixed cost of comparing an object, in bytes. The weight of a
 * segment (struct delta_segment) is the sum of the sizes of its objects, with
 * this cost added for each object.
 */
#define WEIGHT_OF_OBJECT 1024
/*
 * The number of segments into which the candidates of a delta search are split.
 * Threads search the segments independently. Segments have about the same
 * weight. A segment ends where the name changes. Objects of one name, or of
 * similar names, are split only if they are many.
 */
#define SEGMENTS 64
/*
 * The number of segments (parts that are searched independently) in
 * DELTA_PASS_ROOTS and DELTA_PASS_ALL. In DELTA_PASS_ROOTS, most candidates are
 * skipped. So a segment must span many candidates.
 */
#define SEGMENTS_FEW 16
/*
 * A name hash, shifted right by this number of bits, depends on about the last
 * three characters of the name (its ending). A segment should not end between
 * names with equal endings, unless the segment already has twice the weight
 * that a segment should have.
 */
#define ENDING_SHIFT 22
/*
 * A name hash, shifted right by this number of bits, depends on about the last
 * nine characters of the path. Objects with equal last characters are often
 * files of the same name in different directories, which are often similar.
 */
#define FILE_SHIFT 14

/*
 * Minimum of the weight that a segment should have. (A segment is a part of the
 * candidates that is searched independently.) The weight is the sum of the
 * objects' sizes in bytes, plus WEIGHT_OF_OBJECT for each object.
 */
#define SEGMENT_WEIGHT_MIN (UINT64_C(256) << 10)

/*
 * Objects of one name are put into two segments only if two conditions hold:
 * the first segment then has at least this number of objects, and at least
 * twice the weight that a segment should have. The two segments are searched
 * independently, so each such split stores about one more object whole.
 */
#define SPLIT_OBJECTS_MIN 8192
/*
 * The candidates of the delta search are sorted, and cut into segments that
 * threads search independently. A cut may separate two neighbours whose names
 * differ but have the same last characters (FILE_SHIFT). Such neighbours are
 * often similar, so the cut is made only if the segment before the cut fulfils
 * two conditions:
 * - its weight is at least twice the weight that a segment should have;
 * - it has at least SPLIT_FILES_MIN objects, or its weight is at least
 *   SPLIT_WEIGHT_MIN.
 *
 * These limits are lower than the limit for neighbours of one name
 * (SPLIT_OBJECTS_MIN), so that several threads can share the work.
 */
#define SPLIT_FILES_MIN 2048
#define SPLIT_WEIGHT_MIN (UINT64_C(512) << 20)
/*
 * A later pass tries a poor delta again. A delta is poor if it has at least
 * POOR_SIZE_MIN bytes and more than 1 / POOR_RATIO of the object's size.
 */
#define POOR_SIZE_MIN 256
#define POOR_RATIO 8

static bool is_candidate(const struct packing_item *item,
			 const struct delta_search_options *options)
{
	if (item->size < SIZE_MIN || item->size > UINT32_MAX ||
	    item->size > options->big_file_threshold || item->no_delta)
		return false;
	return item->is_external || item->how == PACKING_WHOLE ||
	       item->how == PACKING_COPY;
}

static size_t choose(struct sort_item *keys, const struct packing_items *list,
		     const struct delta_search_options *options)
{
	size_t nr = 0;

	for (size_t i = 0; i < list->nr; i++) {
		if (!is_candidate(&list->items[i], options))
			continue;
		keys[nr].key = UINT32_MAX - (uint32_t)list->items[i].size;
		keys[nr++].value = (uint32_t)i;
	}
	return nr;
}

/*
 * Returns the rank of an object among the objects of one name. Objects with
 * lower ranks come first, so that they can be bases of objects with higher
 * ranks.
 */
static unsigned rank_of(const struct packing_item *item,
			const struct islands *islands)
{
	if (item->is_external)
		return 0;
	return islands_in_tip(islands, item->obj_pos) ? 1 : 2;
}

/*
 * Returns a sort key that puts objects of the same islands together, as a
 * group. Groups with more islands come first, because a base must be in all
 * islands of its delta. In each group, whole objects marked `retry` come first.
 * They are then next to the previous group, whose objects may become their
 * bases.
 */
static uint64_t island_key(const struct packing_item *item,
			   const struct islands *islands)
{
	uint32_t set = islands_set(islands, item->obj_pos);
	uint32_t others = 0;

	if (islands && islands->set_of)
		others = islands->sets.island_nr -
			 island_sets_count(&islands->sets, set);
	return (uint64_t)others << 33 | (uint64_t)set << 1 |
	       !(item->retry && item->how == PACKING_COPY);
}

static uint32_t name_of(const struct packing_item *item,
			const struct delta_search_options *options)
{
	return options->grouping == PATH_GROUP_COMPONENTS ? item->path_hash
							  : item->name_hash;
}

static uint64_t name_key(const struct packing_item *item,
			 const struct islands *islands,
			 const struct delta_search_options *options)
{
	return (uint64_t)item->type << 34 |
	       (uint64_t)name_of(item, options) << 2 | rank_of(item, islands);
}

/* Sort by type, name, rank, islands and size. The sort is stable. */
static int sort_candidates(struct sort_item *keys, size_t nr,
			   const struct packing_items *list,
			   const struct delta_search_options *options)
{
	int ret = sort_items(keys, nr);

	if (ret < 0)
		return ret;
	if (list->islands) {
		for (size_t i = 0; i < nr; i++)
			keys[i].key = island_key(&list->items[keys[i].value],
						 list->islands);
		ret = sort_items(keys, nr);
		if (ret < 0)
			return ret;
	}
	for (size_t i = 0; i < nr; i++)
		keys[i].key = name_key(&list->items[keys[i].value],
				       list->islands, options);
	return sort_items(keys, nr);
}

/* The packs in which the candidates of a segment are stored. */
struct seen {
	bool any;
	/*
	 * true: the candidates come from several packs, or at least one is in
	 * no pack
	 */
	bool several;
	uint32_t pack_nr;
};

static void seen_add(struct seen *seen, const struct packing_item *item)
{
	if (item->is_external || item->pack_nr == PACKING_NO_ITEM ||
	    (seen->any && seen->pack_nr != item->pack_nr))
		seen->several = true;
	seen->any = true;
	seen->pack_nr = item->pack_nr;
}

/*
 * Returns whether an item has a poor delta: a further pass is likely to find a
 * much smaller one.
 */
static bool is_poor_delta(const struct packing_item *item)
{
	return item->how == PACKING_DELTA &&
	       item->delta_size >= POOR_SIZE_MIN &&
	       item->delta_size > item->size / POOR_RATIO;
}

static bool may_be_target(const struct packing_item *item,
			  const struct seen *seen, bool retry_same_pack)
{
	if (item->is_external || !seen->any || (item->settled && !item->retry))
		return false;
	if (item->how == PACKING_DELTA && !is_poor_delta(item))
		return false;
	return retry_same_pack || item->retry || seen->several ||
	       seen->pack_nr != item->pack_nr;
}

static uint64_t weight_of(const struct packing_item *item)
{
	return item->size + WEIGHT_OF_OBJECT;
}

/* State of splitting the candidates of one pass into segments. */
struct splitting {
	struct delta_order *order;
	const struct packing_items *list;
	const struct delta_search_options *options;
	enum delta_pass pass;
	/* total weight that a segment should have */
	uint64_t goal;
	/*
	 * Indexed by item: 1 plus the index of the first candidate in the
	 * item's segment. Used to find candidates whose delta base is in the
	 * same segment (is_near). Only DELTA_PASS_ALL tries candidates that are
	 * already deltas. In all other passes, the array is NULL.
	 */
	uint32_t *segment_of;
};

static void set_goal(struct splitting *c)
{
	const struct delta_order *order = c->order;

	for (size_t i = 0; i < order->nr; i++)
		c->goal += weight_of(
			&c->list->items[order->candidates[i].item]);
	c->goal /= c->pass == DELTA_PASS_ROOTS || c->pass == DELTA_PASS_ALL
			   ? SEGMENTS_FEW
			   : SEGMENTS;
	if (c->goal < SEGMENT_WEIGHT_MIN)
		c->goal = SEGMENT_WEIGHT_MIN;
}

static bool has_same_path(const struct packing_item *a,
			  const struct packing_item *b)
{
	return a->type == b->type && a->path_hash == b->path_hash &&
	       a->name_hash == b->name_hash;
}

/*
 * Returns whether the segment *seg may end between the neighbours a and b.
 * Objects with similar names should stay in one segment, because they are often
 * good delta bases of each other. But a segment must not become too large: if
 * it has at least twice the intended weight, it may also end between objects
 * with similar names. The weight is the sum of the objects' sizes, plus a
 * constant for each object.
 */
static bool may_part(const struct splitting *c, const struct delta_segment *seg,
		     const struct packing_item *a, const struct packing_item *b)
{
	bool is_heavy = seg->weight / 2 >= c->goal;
	uint32_t x = name_of(a, c->options), y = name_of(b, c->options);
	size_t nr = seg->end - seg->first;

	if (c->pass == DELTA_PASS_PATHS)
		return !has_same_path(a, b) ||
		       (is_heavy && nr >= SPLIT_OBJECTS_MIN);
	if (!is_heavy)
		return x >> ENDING_SHIFT != y >> ENDING_SHIFT;
	if (x == y)
		return nr >= SPLIT_OBJECTS_MIN;
	return x >> FILE_SHIFT != y >> FILE_SHIFT || nr >= SPLIT_FILES_MIN ||
	       seg->weight >= SPLIT_WEIGHT_MIN;
}

/*
 * Returns whether the segment *seg ends before the candidate with index
 * seg->end.
 */
static bool is_segment_end(const struct splitting *c,
			   const struct delta_segment *seg)
{
	const struct delta_candidate *next = &c->order->candidates[seg->end];
	const struct packing_item *item, *last;

	if (seg->end == c->order->nr)
		return true;
	item = &c->list->items[next->item];
	last = &c->list->items[next[-1].item];
	return item->type != last->type ||
	       (seg->weight >= c->goal && may_part(c, seg, item, last));
}

/*
 * Records that a candidate's item is in the segment whose first candidate has
 * the index `first`. Sets candidate->is_near if the item's delta base is in
 * this segment too.
 */
static void note_segment(struct splitting *c, struct delta_candidate *candidate,
			 size_t first)
{
	const struct packing_item *item = &c->list->items[candidate->item];

	if (!c->segment_of)
		return;
	c->segment_of[candidate->item] = (uint32_t)first + 1;
	candidate->is_near = item->how == PACKING_DELTA &&
			     c->segment_of[item->base] == first + 1;
}

static struct delta_segment take_segment(struct splitting *c, size_t first)
{
	struct delta_segment seg = {.first = first, .end = first};
	struct seen seen = {false, false, PACKING_NO_ITEM};
	const struct packing_item *last = NULL;

	do {
		struct delta_candidate *candidate =
			&c->order->candidates[seg.end++];
		const struct packing_item *item =
			&c->list->items[candidate->item];

		candidate->starts = c->pass == DELTA_PASS_PATHS && last &&
				    !has_same_path(item, last);
		if (candidate->starts)
			seen = (struct seen){false, false, PACKING_NO_ITEM};
		candidate->is_target = may_be_target(
			item, &seen, c->options->retry_same_pack);
		note_segment(c, candidate, first);
		candidate->is_skipped = c->pass == DELTA_PASS_ROOTS &&
					item->how == PACKING_DELTA;
		candidate->is_target = !candidate->is_skipped &&
				       candidate->is_target;
		seg.target_nr += candidate->is_target;
		seg.weight += weight_of(item);
		if (!candidate->is_skipped)
			seen_add(&seen, item);
		last = item;
	} while (!is_segment_end(c, &seg));
	return seg;
}

static int split_segments(struct splitting *c)
{
	struct delta_order *order = c->order;
	struct delta_segment seg;

	set_goal(c);
	for (size_t at = 0; at < order->nr; at = seg.end) {
		seg = take_segment(c, at);
		if (!seg.target_nr)
			continue;
		if (mem_grow(&order->segments, &order->segment_alloc,
			     order->segment_nr + 1, sizeof(seg)) < 0)
			return ERR_NOMEM;
		order->segments[order->segment_nr++] = seg;
		order->target_nr += seg.target_nr;
	}
	return 0;
}

static int by_weight(const void *a, const void *b)
{
	const struct delta_segment *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

/*
 * Restore the order by name. Each pass after the first one starts with this
 * order.
 */
static void restore(struct delta_order *order)
{
	for (size_t i = 0; i < order->nr; i++)
		order->candidates[i] = (struct delta_candidate){
			.item = order->sorted[i],
		};
}

/* Sort the candidates by type, path hash and name hash. The sort is stable. */
static int sort_by_path(struct delta_order *order,
			const struct packing_items *list)
{
	struct sort_item *keys = mem_alloc(order->nr, sizeof(*keys));
	int ret = keys ? 0 : ERR_NOMEM;

	for (size_t i = 0; i < order->nr && !ret; i++) {
		uint32_t item = order->candidates[i].item;

		keys[i] = (struct sort_item){
			(uint64_t)list->items[item].type << 32 |
				list->items[item].path_hash,
			item,
		};
	}
	/*
	 * So far, the candidates are sorted by type and then by name hash. Now
	 * sort them by type and path hash. The sort is stable. So candidates
	 * with the same type and the same path hash stay sorted by name hash.
	 * If no path hashes are known (all are 0), the order does not change.
	 */
	if (!ret)
		ret = sort_items(keys, order->nr);
	for (size_t i = 0; i < order->nr && !ret; i++)
		order->candidates[i].item = keys[i].value;
	free(keys);
	return ret;
}

/*
 * A pass of the delta search may turn candidates (its targets) into deltas.
 * Keep some candidates from being targets of this pass: each delta D whose base
 * is in another segment, and all bases of D's delta chain, up to the object
 * that is stored whole.
 *
 * The reason: different threads search the segments at the same time. The
 * thread that searches the segment of D uses the depth of D (the length of D's
 * delta chain), and this depth must not change during the search. The bases of
 * D may be in segments of other threads. If another thread turned the whole
 * object at the end of the chain into a delta, the depth of D would grow.
 *
 * Only few candidates are kept out, because there are few deltas like D.
 * Returns 0 or ERR_NOMEM.
 */
static int settle_far(struct delta_order *order,
		      const struct packing_items *list)
{
	uint8_t *is_settled = mem_calloc(list->nr, 1);

	if (!is_settled)
		return ERR_NOMEM;
	for (size_t i = 0; i < order->nr; i++) {
		const struct delta_candidate *c = &order->candidates[i];
		uint32_t at = c->item;

		if (c->is_near)
			continue;
		while (list->items[at].how == PACKING_DELTA &&
		       !is_settled[at]) {
			is_settled[at] = 1;
			at = list->items[at].base;
		}
		if (at != c->item)
			is_settled[at] = 1;
	}
	for (size_t i = 0; i < order->nr; i++) {
		struct delta_candidate *c = &order->candidates[i];

		order->target_nr -= c->is_target && is_settled[c->item];
		c->is_target = c->is_target && !is_settled[c->item];
	}
	free(is_settled);
	return 0;
}

int delta_order_pass(struct delta_order *order,
		     const struct packing_items *list,
		     const struct delta_search_options *options,
		     enum delta_pass pass)
{
	struct splitting c = {
		.order = order,
		.list = list,
		.options = options,
		.pass = pass,
	};
	int ret = 0;

	order->segment_nr = 0;
	order->target_nr = 0;
	restore(order);
	if (pass == DELTA_PASS_PATHS)
		ret = sort_by_path(order, list);
	if (!ret && pass == DELTA_PASS_ALL) {
		c.segment_of = mem_calloc(list->nr, sizeof(*c.segment_of));
		ret = c.segment_of ? 0 : ERR_NOMEM;
	}
	if (!ret)
		ret = split_segments(&c);
	free(c.segment_of);
	if (!ret && pass == DELTA_PASS_ALL)
		ret = settle_far(order, list);
	if (!ret && order->segment_nr)
		qsort(order->segments, order->segment_nr,
		      sizeof(*order->segments), by_weight);
	return ret;
}

int delta_order_init(struct delta_order *order,
		     const struct packing_items *list,
		     const struct delta_search_options *options)
{
	struct sort_item *keys = mem_alloc(list->nr, sizeof(*keys));
	int ret = ERR_NOMEM;

	*order = (struct delta_order){0};
	if (!keys)
		return ERR_NOMEM;
	order->nr = choose(keys, list, options);
	order->sorted = mem_alloc(order->nr, sizeof(*order->sorted));
	order->candidates = mem_alloc(order->nr, sizeof(*order->candidates));
	if (order->sorted && order->candidates)
		ret = sort_candidates(keys, order->nr, list, options);
	for (size_t i = 0; i < order->nr && !ret; i++)
		order->sorted[i] = keys[i].value;
	free(keys);
	if (!ret)
		ret = delta_order_pass(order, list, options,
				       options->grouping == PATH_GROUP_PATH
					       ? DELTA_PASS_PATHS
					       : DELTA_PASS_NAMES);
	if (ret < 0)
		delta_order_release(order);
	return ret;
}

void delta_order_release(struct delta_order *order)
{
	free(order->sorted);
	free(order->candidates);
	free(order->segments);
	*order = (struct delta_order){0};
}
