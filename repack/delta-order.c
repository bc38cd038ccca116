/* SPDX-License-Identifier: MIT */
/* Choosing, sorting and cutting the candidates of a delta search. */
#include "base/mem.h"
#include "base/sort.h"
#include "repack/delta-order.h"

/* Smaller objects are not worth a delta's header. */
#define SIZE_MIN 50
/* What an object costs besides its bytes, when segments are weighed. */
#define WEIGHT_OF_OBJECT 1024
/*
 * Segments are an even share of the whole, where names change. Objects of one
 * name stay together unless they are many: each cut among them costs about
 * one object stored whole.
 */
#define SEGMENTS 64
#define SEGMENT_WEIGHT_MIN (UINT64_C(256) << 10)
#define CUT_OBJECTS_MIN 8192

static bool is_candidate(const struct repack_item *item,
			 const struct delta_search_options *options)
{
	if (item->size < SIZE_MIN || item->size > UINT32_MAX ||
	    item->size > options->big_file_threshold)
		return false;
	return item->is_external || item->how == REPACK_WHOLE ||
	       item->how == REPACK_COPY;
}

static size_t choose(struct sort_item *keys, const struct repack_items *list,
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

/* Among objects of one name, those come first that may be bases of others. */
static unsigned rank_of(const struct repack_item *item,
			const struct islands *islands)
{
	if (item->is_external)
		return 0;
	return islands_in_tip(islands, item->obj_pos) ? 1 : 2;
}

/*
 * Objects of the same islands stand together, those of more islands before
 * those of fewer; and first in each, whole ones that islands ask to become
 * deltas against what is right before.
 */
static uint64_t island_key(const struct repack_item *item,
			   const struct islands *islands)
{
	uint32_t set = islands_set(islands, item->obj_pos);
	uint32_t others = 0;

	if (islands && islands->set_of)
		others = islands->sets.island_nr -
			 island_sets_count(&islands->sets, set);
	return (uint64_t)others << 33 | (uint64_t)set << 1 |
	       !(item->retry && item->how == REPACK_COPY);
}

static uint64_t name_key(const struct repack_item *item,
			 const struct islands *islands)
{
	return (uint64_t)item->type << 34 | (uint64_t)item->name_hash << 2 |
	       rank_of(item, islands);
}

/* By type, name, rank, islands, and size; the sort is stable. */
static int sort_candidates(struct sort_item *keys, size_t nr,
			   const struct repack_items *list)
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
				       list->islands);
	return sort_items(keys, nr);
}

/* The packs that the candidates of a segment so far come from. */
struct seen {
	bool any;
	bool several; /* packs, or an object from none */
	uint32_t pack_nr;
};

static void seen_add(struct seen *seen, const struct repack_item *item)
{
	if (item->is_external || item->pack_nr == REPACK_NO_ITEM ||
	    (seen->any && seen->pack_nr != item->pack_nr))
		seen->several = true;
	seen->any = true;
	seen->pack_nr = item->pack_nr;
}

static bool may_be_target(const struct repack_item *item,
			  const struct seen *seen, bool retry_same_pack)
{
	if (item->is_external || item->no_delta || !seen->any)
		return false;
	return retry_same_pack || item->retry || seen->several ||
	       seen->pack_nr != item->pack_nr;
}

static uint64_t weight_of(const struct repack_item *item)
{
	return item->size + WEIGHT_OF_OBJECT;
}

static uint64_t segment_goal(const struct delta_order *order,
			     const struct repack_items *list)
{
	uint64_t goal = 0;

	for (size_t i = 0; i < order->nr; i++)
		goal += weight_of(&list->items[order->candidates[i].item]);
	goal /= SEGMENTS;
	return goal > SEGMENT_WEIGHT_MIN ? goal : SEGMENT_WEIGHT_MIN;
}

/* Whether a segment ends before the candidate at `at`. */
static bool is_cut(const struct delta_order *order,
		   const struct repack_items *list,
		   const struct delta_segment *seg, size_t at, uint64_t goal)
{
	const struct repack_item *item, *last;

	if (at == order->nr)
		return true;
	item = &list->items[order->candidates[at].item];
	last = &list->items[order->candidates[at - 1].item];
	if (item->type != last->type)
		return true;
	if (seg->weight < goal)
		return false;
	return item->name_hash != last->name_hash ||
	       (seg->weight / 2 >= goal && at - seg->first >= CUT_OBJECTS_MIN);
}

static struct delta_segment take_segment(struct delta_order *order,
					 const struct repack_items *list,
					 size_t first, uint64_t goal,
					 bool retry_same_pack)
{
	struct delta_segment seg = {.first = first, .end = first};
	struct seen seen = {false, false, REPACK_NO_ITEM};

	do {
		struct delta_candidate *c = &order->candidates[seg.end++];
		const struct repack_item *item = &list->items[c->item];

		c->is_target = may_be_target(item, &seen, retry_same_pack);
		seg.target_nr += c->is_target;
		seg.weight += weight_of(item);
		seen_add(&seen, item);
	} while (!is_cut(order, list, &seg, seg.end, goal));
	return seg;
}

static int cut_segments(struct delta_order *order,
			const struct repack_items *list, bool retry_same_pack)
{
	uint64_t goal = segment_goal(order, list);
	struct delta_segment seg;

	for (size_t at = 0; at < order->nr; at = seg.end) {
		seg = take_segment(order, list, at, goal, retry_same_pack);
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

int delta_order_init(struct delta_order *order, const struct repack_items *list,
		     const struct delta_search_options *options)
{
	struct sort_item *keys = mem_alloc(list->nr, sizeof(*keys));
	int ret = ERR_NOMEM;

	*order = (struct delta_order){0};
	if (!keys)
		return ERR_NOMEM;
	order->nr = choose(keys, list, options);
	order->candidates = mem_alloc(order->nr, sizeof(*order->candidates));
	if (!order->candidates)
		goto out;
	ret = sort_candidates(keys, order->nr, list);
	if (ret < 0)
		goto out;
	for (size_t i = 0; i < order->nr; i++)
		order->candidates[i] = (struct delta_candidate){
			.item = keys[i].value,
		};
	ret = cut_segments(order, list, options->retry_same_pack);
	if (!ret && order->segment_nr)
		qsort(order->segments, order->segment_nr,
		      sizeof(*order->segments), by_weight);
out:
	free(keys);
	if (ret < 0)
		delta_order_release(order);
	return ret;
}

void delta_order_release(struct delta_order *order)
{
	free(order->candidates);
	free(order->segments);
	*order = (struct delta_order){0};
}
