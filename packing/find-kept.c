/* SPDX-License-Identifier: MIT */
/*
 * Chooses the kept delta (prepared/kept-deltas.h) of an object to send. The
 * base of the delta must be an object that the receiver has, or one that is
 * copied in runs of stored bytes. Also finds stored whole copies of objects to
 * send.
 */
#include "packing/find-parts.h"
#include "packing/packs.h"

/*
 * Maximum number of deltas that are followed in a stored delta chain. Chains of
 * received packs may be longer. The objects at the end of such a chain are not
 * used as delta bases.
 */
#define CHAIN_MAX 4096

int find_kept_open(struct found *f, struct error *warning, struct error *err)
{
	const struct odb *odb = f->walk.odb;
	int ret = f->tried_kept;

	f->tried_kept = true;
	for (size_t i = 0; i < odb->dir_nr && ret <= 0; i++) {
		struct error why = ERROR_INIT;

		ret = kept_deltas_open(&f->kept, odb, i, &why);
		if (ret == ERR_NOMEM)
			return error_nomem(err);
		if (ret < 0 && ret != ERR_UNSUPPORTED && !warning->code)
			*warning = why;
	}
	return 0;
}

/*
 * Find the delta base of an object, given by the object's bit in `packed`.
 * Returns 1 with *obj_pos set to the base, 0 if the object is stored whole, or
 * a negative error code.
 */
static int base_of(uint32_t *obj_pos, const struct found *f, uint32_t bit)
{
	const struct odb_pack *pack;
	struct pack_entry entry;
	uint32_t idx_pos;
	uint64_t off;
	int ret;

	pack = bitmap_space_locate(&f->space, bit, &off);
	if (!pack)
		return ERR_CORRUPT;
	ret = pack_entry_at(&entry, pack->pack, off, NULL);
	if (!ret)
		ret = pack_entry_base_pos(&idx_pos, pack->pack, off, &entry,
					  NULL);
	if (ret > 0)
		*obj_pos = pack->first_pos + idx_pos;
	return ret;
}

/*
 * Returns whether the receiver can use a copied object as a delta base: the
 * receiver has or gets all objects of the object's stored delta chain. Returns
 * false if `target` is in the chain, because a delta of `target` against the
 * object would make a cycle.
 */
static bool is_copied(const struct found *f, uint32_t obj_pos, uint32_t target)
{
	uint32_t bit;
	int ret = 1;

	for (int i = 0; i < CHAIN_MAX && ret > 0; i++) {
		if (i && found_is_uninteresting(f, obj_pos))
			return true;
		if (!found_bit(f, obj_pos, &bit) ||
		    !bitset_get(&f->packed, bit) || bit == target)
			return false;
		ret = base_of(&obj_pos, f, bit);
	}
	return !ret;
}

/*
 * Set c->base_pos to the obj_pos of `base`, and set c->base_is_sent. Returns
 * false if the receiver neither has `base` nor gets it.
 */
static bool can_be_base(struct kept_choice *c, const struct found *f,
			const struct oid *base, uint32_t target_bit,
			uint32_t old_pos)
{
	const struct objspace *space = &f->walk.space;

	c->base_is_sent = false;
	if (!objspace_find_packed(space, base->bytes, &c->base_pos))
		return false;
	if (c->base_pos == old_pos || found_is_uninteresting(f, c->base_pos))
		return true;
	c->base_is_sent = is_copied(f, c->base_pos, target_bit);
	return c->base_is_sent;
}

void find_kept(struct kept_choice *choice, const struct found *f,
	       const uint8_t *target, uint32_t target_bit, uint32_t old_pos,
	       struct error *warning)
{
	struct kept_choice c;
	uint32_t row;

	*choice = (struct kept_choice){.delta = {.stream = NULL}};
	if (!kept_deltas_find(&f->kept, target, &row))
		return;
	for (; kept_deltas_is_of(&f->kept, row, target); row++) {
		if (kept_deltas_get(&c.delta, &f->kept, row,
				    warning->code ? NULL : warning) < 0)
			continue;
		if (c.delta.len && !kept_delta_is_copy(&c.delta) &&
		    (!choice->delta.stream ||
		     c.delta.len < choice->delta.len) &&
		    can_be_base(&c, f, &c.delta.base, target_bit, old_pos))
			*choice = c;
	}
}

static bool may_have_copy(const struct packing_item *item)
{
	return item->how == PACKING_WHOLE && !item->is_external &&
	       item->pack_nr != PACKING_NO_ITEM;
}

static void take_copy(struct packing_item *item, const struct found *f,
		      struct error *warning)
{
	const uint8_t *id = objspace_raw(&f->walk.space, item->obj_pos);
	struct kept_delta copy;
	uint32_t row;

	if (kept_deltas_get_copy(&copy, &f->kept, id, &row,
				 warning->code ? NULL : warning) <= 0)
		return;
	item->how = PACKING_KEPT;
	item->size = copy.size;
	item->kept_row = row;
}

int found_take_copies(struct found *found, struct packing_items *items,
		      struct error *warning, struct error *err)
{
	for (size_t i = 0; i < items->nr; i++) {
		if (!may_have_copy(&items->items[i]))
			continue;
		if (find_kept_open(found, warning, err) < 0)
			return ERR_NOMEM;
		if (!found->kept.nr)
			return 0;
		take_copy(&items->items[i], found, warning);
	}
	return 0;
}
