/* SPDX-License-Identifier: MIT */
/*
 * Decides for each object of a new pack whether its stored bytes can be copied.
 */
#include <string.h>

#include "base/mem.h"
#include "deltas/item-index.h"
#include "packing/plan.h"
#include "sys/thread.h"

/* Number of items that a thread plans at a time. */
#define PLAN_BATCH 4096

struct plan {
	struct packing_items *list;
	struct packs *packs;
	const struct plan_options *options;
	struct item_index item_of;
	/*
	 * For each item, the item number of its stored delta base if islands
	 * forbid this base, else PACKING_NO_ITEM. NULL: there are no islands.
	 */
	uint32_t *refused;
};

/*
 * Returns the item of the object at idx_pos of a pack, or PACKING_NO_ITEM. The
 * item may refer to a copy of the object in another pack.
 */
static uint32_t item_at(const struct plan *p, uint32_t pack_nr,
			uint32_t idx_pos)
{
	const struct odb *odb = p->packs->odb;
	uint32_t obj_pos = odb->packs[pack_nr].first_pos + idx_pos;

	if (odb->pack_nr > 1 &&
	    !odb_find_raw(odb, odb_oid_raw(odb, obj_pos), &obj_pos))
		return PACKING_NO_ITEM;
	return item_index_get(&p->item_of, obj_pos);
}

static bool may_be_base(const struct plan *p, const struct packing_item *item,
			uint32_t base_idx_pos)
{
	const struct plan_options *o = p->options;
	uint32_t first_pos = p->packs->odb->packs[item->pack_nr].first_pos;

	return o->is_base && o->is_base(o->base_ctx, first_pos + base_idx_pos);
}

static bool islands_allow(const struct plan *p, const struct packing_item *item,
			  uint32_t base)
{
	return islands_may_delta(p->list->islands, item->obj_pos,
				 p->list->items[base].obj_pos);
}

static int plan_stored_delta(struct plan *p, struct packing_item *item,
			     uint32_t idx_pos,
			     const struct packs_stored *stored,
			     struct error *err)
{
	uint32_t base_idx_pos, base;
	int ret;

	if (!p->options->reuse_delta)
		return 0;
	ret = packs_base(&base_idx_pos, p->packs, item->pack_nr, idx_pos,
			 stored, err);
	if (ret <= 0)
		return ret;
	base = item_at(p, item->pack_nr, base_idx_pos);
	if (item->is_external ||
	    (base == PACKING_NO_ITEM && !may_be_base(p, item, base_idx_pos)))
		return 0;
	if (base != PACKING_NO_ITEM && !islands_allow(p, item, base)) {
		p->refused[item - p->list->items] = base;
		return 0;
	}
	item->how = PACKING_COPY_DELTA;
	item->base = base;
	item->delta_size = (uint32_t)stored->entry.size;
	return 0;
}

/*
 * Plan an item that is stored in a pack. Returns 0, ERR_CORRUPT if the chosen
 * copy is damaged, or another negative error code.
 */
static int plan_stored(struct plan *p, struct packing_item *item,
		       struct error *err)
{
	const struct odb *odb = p->packs->odb;
	const struct odb_pack *pack;
	struct packs_stored stored;
	uint32_t idx_pos;
	int ret;

	pack = odb_locate(odb, item->obj_pos, &idx_pos);
	item->pack_nr = (uint32_t)(pack - odb->packs);
	ret = packs_stored(&stored, p->packs, item->pack_nr, idx_pos, err);
	if (ret < 0)
		return ret;
	item->how = PACKING_WHOLE;
	if (stored.entry.type == OBJ_OFS_DELTA ||
	    stored.entry.type == OBJ_REF_DELTA)
		return plan_stored_delta(p, item, idx_pos, &stored, err);
	item->size = stored.entry.size;
	if (stored.entry.type != item->type)
		return error_set_at(err, ERR_CORRUPT, pack->pack->path,
				    stored.off, "object is a %s, not a %s",
				    object_type_name(stored.entry.type),
				    object_type_name(item->type));
	if (p->options->reuse_object)
		item->how = PACKING_COPY;
	item->settled = item->how == PACKING_COPY && p->options->settled_min &&
			pack->pack->idx.nr >= p->options->settled_min;
	return 0;
}

/*
 * Plan an item that is stored in a pack. If the chosen copy is damaged, its
 * bytes are not copied. The object is then read when it is written, and reading
 * finds another copy.
 */
static int plan_packed(struct plan *p, struct packing_item *item,
		       struct error *err)
{
	int ret = plan_stored(p, item, err);

	if (ret != ERR_CORRUPT)
		return ret;
	item->how = PACKING_WHOLE;
	item->base = PACKING_NO_ITEM;
	item->size = 0;
	if (err)
		*err = (struct error)ERROR_INIT;
	return 0;
}

static int plan_batch(void *ctx, unsigned thread_nr, size_t task_nr,
		      struct error *err)
{
	struct plan *p = ctx;
	size_t first = task_nr * PLAN_BATCH;
	size_t last = first + PLAN_BATCH;

	if (last > p->list->nr)
		last = p->list->nr;
	for (size_t i = first; i < last; i++) {
		struct packing_item *item = &p->list->items[i];
		int ret;

		if (item->obj_pos >= p->list->space->packed_nr)
			continue;
		ret = plan_packed(p, item, err);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int prepare_packs(struct plan *p, struct error *err)
{
	const struct odb *odb = p->packs->odb;
	uint32_t idx_pos;

	for (size_t i = 0; i < p->list->nr; i++) {
		const struct packing_item *item = &p->list->items[i];
		const struct odb_pack *pack;
		int ret;

		if (item->obj_pos >= p->list->space->packed_nr)
			continue;
		pack = odb_locate(odb, item->obj_pos, &idx_pos);
		ret = packs_prepare(p->packs, (uint32_t)(pack - odb->packs),
				    p->list->nr, err);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/*
 * Find the sizes of objects that will be deflated anew. The delta search and
 * the entry headers need these sizes. For an object that is stored as a delta,
 * the size is inside the delta.
 */
static int plan_sizes(struct plan *p, struct error *err)
{
	struct objspace *space = p->list->space;
	/* NULL until needed: a small request needs no reader. */
	struct odb_reader *reader = NULL;
	int ret = 0;

	for (size_t i = 0; i < p->list->nr && !ret; i++) {
		struct packing_item *item = &p->list->items[i];
		bool has_none = item->how == PACKING_WHOLE && !item->size;

		if (has_none && !reader) {
			reader = odb_reader_new(space->odb, 0);
			ret = reader ? 0 : error_nomem(err);
		}
		if (has_none && !ret)
			ret = objspace_info(space, reader, item->obj_pos, NULL,
					    &item->size, err);
		if (item->size > p->options->big_file_threshold)
			item->no_delta = true;
	}
	odb_reader_free(reader);
	return ret;
}

/*
 * Break cycles of copied deltas. Cycles can occur if two packs store the same
 * objects as deltas of each other. An object that would close a cycle is stored
 * whole. `state` has an element for each item, zero at first: whether the
 * item's chain was walked.
 */
static void break_cycles(struct packing_items *list, uint8_t *state)
{
	enum { FRESH, ACTIVE, DONE };

	for (size_t i = 0; i < list->nr; i++) {
		uint32_t at = (uint32_t)i;

		while (at != PACKING_NO_ITEM && state[at] == FRESH) {
			uint32_t base = list->items[at].base;

			state[at] = ACTIVE;
			if (base != PACKING_NO_ITEM && state[base] == ACTIVE) {
				list->items[at].base = PACKING_NO_ITEM;
				list->items[at].how = PACKING_WHOLE;
				break;
			}
			at = base;
		}
		for (at = (uint32_t)i;
		     at != PACKING_NO_ITEM && state[at] == ACTIVE;
		     at = list->items[at].base)
			state[at] = DONE;
	}
}

/*
 * Counts copied deltas along a delta chain, from the item `at` towards the
 * base. The count stops before the first item that is no copied delta or has a
 * known depth (not 0 in `depths`). *end is set to this item, or to
 * PACKING_NO_ITEM if the base of the last counted delta is not in `list`.
 * Returns the number of counted deltas.
 */
static uint32_t count_unknown(uint32_t *end, const struct packing_items *list,
			      const uint32_t *depths, uint32_t at)
{
	uint32_t nr = 0;

	while (at != PACKING_NO_ITEM && !depths[at] &&
	       list->items[at].how == PACKING_COPY_DELTA) {
		nr++;
		at = list->items[at].base;
	}
	*end = at;
	return nr;
}

/*
 * Cut chains of copied deltas into pieces of at most `chain_max` objects. The
 * chains must have no cycles. `depths` has an element for each item, zero at
 * first: the number of deltas between the item and the start of its piece, 0
 * also if it was not computed yet. Each chain is followed once, so the cost
 * grows with the number of items.
 */
static void cut_chains(struct packing_items *list, uint32_t *depths,
		       uint32_t chain_max)
{
	for (uint32_t i = 0; i < list->nr; i++) {
		uint32_t end;
		uint32_t nr = count_unknown(&end, list, depths, i);
		uint64_t depth = nr;

		if (end != PACKING_NO_ITEM)
			depth += depths[end];
		for (uint32_t at = i; nr > 0; nr--, depth--) {
			struct packing_item *item = &list->items[at];

			at = item->base;
			depths[item - list->items] = (uint32_t)(depth %
								chain_max);
			if (depth % chain_max)
				continue;
			item->how = PACKING_WHOLE;
			item->base = PACKING_NO_ITEM;
			item->retry = true;
		}
	}
}

static int limit_chains(struct plan *p, struct error *err)
{
	uint32_t *depths;

	if (!p->options->chain_max)
		return 0;
	depths = mem_calloc(p->list->nr, sizeof(*depths));
	if (!depths)
		return error_nomem(err);
	cut_chains(p->list, depths, p->options->chain_max);
	free(depths);
	return 0;
}

static int plan_chains(struct plan *p, struct error *err)
{
	uint8_t *state = mem_calloc(p->list->nr, 1);

	if (!state)
		return error_nomem(err);
	break_cycles(p->list, state);
	free(state);
	return limit_chains(p, err);
}

/*
 * Find each object A that is stored as a delta, and whose base is forbidden by
 * islands. Let W be the object that is stored whole at the end of A's delta
 * chain. Mark A and W `retry`, so that the delta search tries both again.
 * Islands may allow that A is stored as a delta of W, or W as a delta of A.
 */
static void retry_refused(const struct plan *p)
{
	struct packing_item *items = p->list->items;

	for (size_t i = 0; i < p->list->nr; i++) {
		uint32_t root = p->refused[i];

		if (root == PACKING_NO_ITEM)
			continue;
		while (items[root].base != PACKING_NO_ITEM)
			root = items[root].base;
		items[i].retry = items[root].retry = true;
	}
}

static int prepare_islands(struct plan *p)
{
	if (!p->list->islands)
		return 0;
	p->refused = mem_alloc(p->list->nr, sizeof(*p->refused));
	if (!p->refused)
		return ERR_NOMEM;
	memset(p->refused, 0xff, p->list->nr * sizeof(*p->refused));
	return 0;
}

int plan_items(struct packing_items *list, struct packs *packs,
	       const struct plan_options *options, struct error *err)
{
	struct plan p = {.list = list, .packs = packs, .options = options};
	unsigned threads = options->threads ? options->threads : sys_cpu_nr();
	size_t batches = (list->nr + PLAN_BATCH - 1) / PLAN_BATCH;
	int ret;

	if (item_index_init(&p.item_of, list) < 0 || prepare_islands(&p) < 0)
		ret = error_nomem(err);
	else
		ret = prepare_packs(&p, err);
	if (!ret)
		ret = sys_parallel(threads, batches, plan_batch, &p, err);
	if (!ret)
		ret = plan_chains(&p, err);
	if (!ret && p.refused)
		retry_refused(&p);
	if (!ret)
		ret = plan_sizes(&p, err);
	free(p.refused);
	item_index_release(&p.item_of);
	return ret;
}
