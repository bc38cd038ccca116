/* SPDX-License-Identifier: MIT */
/*
 * Makes fallback deltas: new deltas of objects whose stored delta base is not
 * sent. The new base is an object further up the stored delta chain, so no
 * search is needed.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/sort.h"
#include "deltas/item-index.h"
#include "packing/fallback-delta.h"

/*
 * A new delta may have at most 1 / POOR_RATIO of the object's size. The delta
 * search has the same limit.
 */
#define POOR_RATIO 2

/*
 * A stricter limit, used if the delta search may still find a better delta for
 * the object (item->retry): 1 / GOOD_RATIO of the object's size. A delta within
 * this limit is so small that a search would gain little.
 */
#define GOOD_RATIO 16

/*
 * For a small object, the limit of GOOD_RATIO would be very small. If that
 * limit is less than LITTLE bytes, LITTLE is the limit of the new delta. But a
 * delta may never be longer than POOR_RATIO allows, which is half of the
 * object's size.
 */
#define LITTLE 1024

/*
 * Maximum number of deltas that are followed in a stored delta chain. Chains of
 * received packs may be longer. The objects of such a chain then count as
 * objects of several chains, which costs time, but gives no wrong delta.
 */
#define CHAIN_MAX 4096

struct chains {
	struct fallback_deltas r;
	const struct fallback_chains_options *options;
	const struct odb *odb;
	struct item_index item_of;
	/*
	 * Owned: the orphans (items whose stored base is not sent), in the
	 * order of their packs.
	 */
	struct sort_item *orphans;
	size_t nr;
	/*
	 * Owned; indexed by obj_pos; used for objects that are not sent. 0: no
	 * item is known that can replace the object as a delta base. Otherwise
	 * 1 plus the number of such an item. The item is one of these:
	 * - an external item for the object itself (a delta base that is not
	 *   written into the new pack, for example because the receiver has
	 *   it);
	 * - the first orphan whose stored delta chain contains the object. An
	 *   orphan is an item whose stored delta base is not sent. The other
	 *   orphans with the object in their stored chain can become deltas of
	 *   the first one.
	 */
	uint32_t *heirs;
};

/*
 * Returns whether an item would be inflated and deflated again: a pack has the
 * item, but its stored bytes cannot be copied.
 */
static bool is_candidate(const struct packing_item *item)
{
	return item->how == PACKING_WHOLE && !item->is_external &&
	       !item->no_delta && item->pack_nr != PACKING_NO_ITEM;
}

/*
 * Replace *idx_pos by the delta base of the object at *idx_pos of a pack.
 * Returns 1 if replaced, 0 if the object is stored whole or the pack lacks the
 * base, or a negative error code.
 */
static int go_up(const struct chains *c, uint32_t pack_nr, uint32_t *idx_pos)
{
	const struct packs *packs = c->options->packs;
	struct packs_stored stored;
	int ret = packs_stored(&stored, packs, pack_nr, *idx_pos, NULL);

	if (ret < 0 || (stored.entry.type != OBJ_OFS_DELTA &&
			stored.entry.type != OBJ_REF_DELTA))
		return ret;
	return packs_base(idx_pos, packs, pack_nr, *idx_pos, &stored, NULL);
}

/*
 * Returns the object at the end of an item's stored delta chain. If the chain
 * is a cycle, returns any object of the cycle. `roots` is indexed by obj_pos.
 * Its value for an object is 1 plus the obj_pos of the end of the object's
 * delta chain; 0: unknown. This function fills `roots`, so that many items of
 * one chain cost little more than the length of the chain.
 */
static uint32_t root_of(const struct chains *c, const struct packing_item *item,
			uint32_t *roots)
{
	const struct odb_pack *pack = &c->odb->packs[item->pack_nr];
	uint32_t first = item->obj_pos - pack->first_pos;
	uint32_t idx_pos = first, *known = &roots[pack->first_pos];
	uint32_t root;
	size_t nr = 0;

	while (!known[idx_pos] && nr < CHAIN_MAX &&
	       go_up(c, item->pack_nr, &idx_pos) > 0)
		nr++;
	root = known[idx_pos] ? known[idx_pos] : pack->first_pos + idx_pos + 1;
	known[idx_pos] = root;
	for (idx_pos = first; nr > 0; nr--) {
		known[idx_pos] = root;
		go_up(c, item->pack_nr, &idx_pos);
	}
	return root - 1;
}

/*
 * List the orphans (items whose stored base is not sent). Orphans of one delta
 * chain are neighbours, and a base comes before its deltas. So the shared part
 * of a chain is inflated only once. Returns 0 or ERR_NOMEM.
 */
static int list_orphans(struct chains *c, const struct packing_items *items)
{
	uint32_t *roots;
	int ret;

	c->orphans = mem_alloc(items->nr, sizeof(*c->orphans));
	if (!c->orphans)
		return ERR_NOMEM;
	for (size_t i = 0; i < items->nr; i++) {
		struct pack *pack;

		if (!is_candidate(&items->items[i]))
			continue;
		c->orphans[c->nr++] = (struct sort_item){
			odb_offset(c->odb, items->items[i].obj_pos, &pack),
			(uint32_t)i,
		};
	}
	ret = sort_items(c->orphans, c->nr);
	if (ret < 0 || !c->nr)
		return ret;
	roots = mem_calloc(c->odb->packed_nr, sizeof(*roots));
	if (!roots)
		return ERR_NOMEM;
	for (size_t i = 0; i < c->nr; i++)
		c->orphans[i].key = root_of(
			c, &items->items[c->orphans[i].value], roots);
	free(roots);
	return sort_items(c->orphans, c->nr);
}

/*
 * Returns the obj_pos of the object at `idx_pos` of a pack. If several packs
 * have the object, it has several obj_pos. This function returns the obj_pos
 * that a look-up of the id finds. Items always have this obj_pos.
 */
static uint32_t obj_pos_of(const struct chains *c, uint32_t pack_nr,
			   uint32_t idx_pos)
{
	uint32_t obj_pos = c->odb->packs[pack_nr].first_pos + idx_pos;

	if (c->odb->pack_nr > 1)
		odb_find_raw(c->odb, odb_oid_raw(c->odb, obj_pos), &obj_pos);
	return obj_pos;
}

/*
 * Find a delta base for pair->item, by means of an object in its stored delta
 * chain (`obj_pos`). Sets pair->base to the number of an item:
 * - the item of the object, if the object is an item;
 * - otherwise the item that replaces the object, if c->heirs has one. struct
 *   chains says which items replace an object.
 *
 * Without such an item, sets pair->base to PACKING_NO_ITEM. The object itself
 * is then the base, if is_base() allows this, for example because the receiver
 * has the object.
 *
 * Returns false if there is no base.
 */
static bool find_base(const struct chains *c, struct fallback_pair *pair,
		      uint32_t obj_pos)
{
	const struct fallback_chains_options *o = c->options;

	pair->old.obj_pos = obj_pos;
	pair->base = item_index_get(&c->item_of, obj_pos);
	if (pair->base == PACKING_NO_ITEM && c->heirs[obj_pos])
		pair->base = c->heirs[obj_pos] - 1;
	if (pair->base == PACKING_NO_ITEM)
		return o->is_base && o->is_base(o->base_ctx, obj_pos);
	pair->old.obj_pos = c->r.items->items[pair->base].obj_pos;
	return true;
}

/*
 * Returns whether `base` is a delta of `item`, directly or through other
 * deltas. This is possible if a stored chain is a cycle, or if two packs store
 * the same objects as deltas of each other.
 */
static bool is_made_from(const struct packing_items *items, uint32_t base,
			 uint32_t item)
{
	while (base != PACKING_NO_ITEM && base != item)
		base = items->items[base].base;
	return base == item;
}

/*
 * Find a new base for an orphan, an item whose stored base is not sent. Follow
 * the orphan's stored delta chain to the first object for which find_base()
 * finds a base. For each object on the way, record in c->heirs that the orphan
 * can replace this object as a base. If the chain is a cycle, the search comes
 * back to an object with a record, and ends there.
 *
 * Returns 1 if a base was found (*top is the object where the search ended), 0
 * if not, or a negative error code.
 */
static int climb(struct chains *c, struct fallback_pair *pair, uint32_t *top)
{
	const struct packing_item *item = &c->r.items->items[pair->item];
	uint32_t pack_nr = item->pack_nr;
	uint32_t idx_pos = item->obj_pos - c->odb->packs[pack_nr].first_pos;
	int ret;

	while ((ret = go_up(c, pack_nr, &idx_pos)) > 0) {
		*top = obj_pos_of(c, pack_nr, idx_pos);
		if (find_base(c, pair, *top))
			break;
		c->heirs[*top] = pair->item + 1;
	}
	return ret;
}

static uint64_t max_delta_len(const struct packing_item *item)
{
	uint64_t poor = item->size / POOR_RATIO;
	uint64_t good = item->size / GOOD_RATIO;

	if (!item->retry || poor < LITTLE)
		return poor;
	return good < LITTLE ? LITTLE : good;
}

static int make_for_orphan(struct chains *c, uint32_t item_nr)
{
	const struct packing_item *item = &c->r.items->items[item_nr];
	struct fallback_pair pair = {
		.item = item_nr,
		.base = PACKING_NO_ITEM,
		.old = {.type = item->type, .name_hash = item->name_hash},
	};
	uint32_t top;
	int ret = climb(c, &pair, &top);

	if (ret <= 0 || is_made_from(c->r.items, pair.base, item_nr))
		return ret == ERR_NOMEM ? ret : 0;
	ret = fallback_delta_make(&c->r, &pair, max_delta_len(item));
	if (!ret && pair.base != PACKING_NO_ITEM && !c->heirs[top])
		c->heirs[top] = pair.base + 1;
	return ret;
}

static int make_for_orphans(struct chains *c)
{
	uint64_t limit = c->options->cache_size;
	int ret = item_index_init(&c->item_of, c->r.items);

	if (ret < 0)
		return ret;
	c->heirs = mem_calloc(c->odb->packed_nr, sizeof(*c->heirs));
	if (!c->heirs)
		ret = ERR_NOMEM;
	for (size_t i = 0; i < c->nr && !ret && (!limit || c->r.kept < limit);
	     i++)
		ret = make_for_orphan(c, c->orphans[i].value);
	free(c->heirs);
	item_index_release(&c->item_of);
	return ret;
}

int fallback_chains_make(struct packing_items *items,
			 const struct fallback_chains_options *options,
			 struct error *err)
{
	struct chains c = {.options = options, .odb = items->space->odb};
	int ret = list_orphans(&c, items);

	if (!ret && c.nr) {
		ret = fallback_deltas_init(&c.r, items, options->reader,
					   options->compression);
		if (!ret)
			ret = make_for_orphans(&c);
		fallback_deltas_release(&c.r);
	}
	free(c.orphans);
	return ret < 0 ? error_nomem(err) : 0;
}

/* Returns whether an item is stored as a delta in its pack. */
static bool is_stored_delta(const struct packing_item *item,
			    const struct packs *packs)
{
	const struct odb_pack *pack = &packs->odb->packs[item->pack_nr];
	struct packs_stored stored;

	return !packs_stored(&stored, packs, item->pack_nr,
			     item->obj_pos - pack->first_pos, NULL) &&
	       (stored.entry.type == OBJ_OFS_DELTA ||
		stored.entry.type == OBJ_REF_DELTA);
}

/*
 * Lists the objects that will be in the windows of the delta search. The key of
 * an object in the list is its type and name hash. Returns the number of
 * objects.
 */
static size_t list_kinds(struct sort_item *kinds,
			 const struct packing_items *items)
{
	size_t nr = 0;

	for (size_t i = 0; i < items->nr; i++) {
		const struct packing_item *item = &items->items[i];

		if (item->is_external || item->how == PACKING_WHOLE ||
		    item->how == PACKING_COPY)
			kinds[nr++] = (struct sort_item){
				(uint64_t)item->type << 32 | item->name_hash,
				(uint32_t)i,
			};
	}
	return nr;
}

int fallback_chains_retry(struct packing_items *items,
			  const struct packs *packs, struct error *err)
{
	struct sort_item *kinds = mem_alloc(items->nr, sizeof(*kinds));
	size_t nr = kinds ? list_kinds(kinds, items) : 0;
	int ret = kinds ? sort_items(kinds, nr) : ERR_NOMEM;

	for (size_t i = 0; i < nr && !ret; i++) {
		struct packing_item *item = &items->items[kinds[i].value];

		/*
		 * Name hash 0 means a root tree if the item is a tree. For
		 * other items it means that the path is unknown.
		 */
		if (is_candidate(item) &&
		    (item->name_hash || item->type == OBJ_TREE) &&
		    ((i && kinds[i - 1].key == kinds[i].key) ||
		     (i + 1 < nr && kinds[i + 1].key == kinds[i].key)))
			item->retry = is_stored_delta(item, packs);
	}
	free(kinds);
	return ret < 0 ? error_nomem(err) : 0;
}
