/* SPDX-License-Identifier: MIT */
/*
 * Lists the stored deltas that cross the border of the tip island. The tip
 * island is a set of objects: the trees of the commits that repack.tipIsland
 * names, and all trees and blobs below these trees. A delta is listed if its
 * target is in the tip island and its base is not.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "pack/inflate.h"
#include "packing/packs.h"
#include "packs/keep-deltas.h"

/*
 * Maximum number of bytes of the zlib stream of a delta. A delta with a longer
 * stream is not added to the list: it would save little. The limit also keeps
 * sums of lengths from overflowing.
 */
#define STREAM_MAX ((size_t)1 << 30)

struct search {
	struct dropped_deltas *found;
	const struct walk *walk;
	const struct islands *islands;
	struct packs packs;
};

static int add(struct dropped_deltas *d, const struct kept_delta *delta)
{
	if (mem_grow(&d->deltas, &d->alloc, d->nr + 1, sizeof(*d->deltas)) < 0)
		return ERR_NOMEM;
	d->deltas[d->nr++] = *delta;
	return 0;
}

static bool is_outside(const struct search *s, const uint8_t *base)
{
	uint32_t obj_pos;

	return odb_find_raw(s->walk->odb, base, &obj_pos) &&
	       !islands_in_tip(s->islands, obj_pos);
}

/*
 * If a pack stores the object as a delta, add this delta to the list. The
 * object is in the tip island. The delta is not added if its base is in the tip
 * island too, or if the delta is damaged or very long. Returns 0 or ERR_NOMEM.
 */
static int add_stored(struct search *s, uint32_t obj_pos)
{
	const struct odb *odb = s->walk->odb;
	struct kept_delta delta = {.step = 0};
	const struct odb_pack *pack;
	struct packs_stored stored;
	uint32_t idx_pos, base_pos, pack_nr;
	const uint8_t *base;

	pack = odb_locate(odb, obj_pos, &idx_pos);
	pack_nr = (uint32_t)(pack - odb->packs);
	if (packs_prepare(&s->packs, pack_nr, 1, NULL) < 0)
		return ERR_NOMEM;
	if (packs_stored(&stored, &s->packs, pack_nr, idx_pos, NULL) < 0 ||
	    (stored.entry.type != OBJ_OFS_DELTA &&
	     stored.entry.type != OBJ_REF_DELTA) ||
	    stored.entry.size > UINT32_MAX || stored.len > STREAM_MAX ||
	    packs_base(&base_pos, &s->packs, pack_nr, idx_pos, &stored, NULL) <=
		    0)
		return 0;
	base = odb_oid_raw(odb, pack->first_pos + base_pos);
	if (!is_outside(s, base) ||
	    pack_crc32(0, stored.bytes, stored.len) !=
		    pack_idx_crc(&pack->pack->idx, idx_pos))
		return 0;
	oid_from_raw(&delta.target, odb_oid_raw(odb, obj_pos), odb->algo);
	oid_from_raw(&delta.base, base, odb->algo);
	delta.size = (uint32_t)stored.entry.size;
	delta.stream = stored.bytes + stored.entry.header_len;
	delta.len = (uint32_t)(stored.len - stored.entry.header_len);
	return add(s->found, &delta);
}

/*
 * Returns whether the last delta of the list has the target and the base of
 * *delta.
 */
static bool is_last(const struct dropped_deltas *d,
		    const struct kept_delta *delta)
{
	const struct kept_delta *last = d->nr ? &d->deltas[d->nr - 1] : NULL;

	return last && oid_equal(&last->target, &delta->target) &&
	       oid_equal(&last->base, &delta->base);
}

/*
 * The old file of kept deltas has deltas that earlier repacks have dropped from
 * packs: the rows whose `step` is 0. Add such rows for one target. Returns 0 or
 * ERR_NOMEM.
 */
static int add_kept(struct search *s, uint32_t obj_pos)
{
	const struct kept_deltas *old = &s->found->old;
	const uint8_t *target = odb_oid_raw(s->walk->odb, obj_pos);
	struct kept_delta delta;
	uint32_t row;
	int ret = 0;

	if (!kept_deltas_find(old, target, &row))
		return 0;
	for (; !ret && kept_deltas_is_of(old, row, target); row++) {
		if (kept_deltas_get(&delta, old, row, NULL) < 0)
			continue;
		if (delta.step)
			break;
		if (delta.len && is_outside(s, delta.base.bytes) &&
		    !is_last(s->found, &delta))
			ret = add(s->found, &delta);
	}
	return ret;
}

static int search_tip(struct search *s)
{
	const struct bitset *tip = &s->islands->tip;
	size_t end = s->walk->odb->packed_nr;
	int ret = 0;

	for (size_t bit = bitset_next(tip, 0);
	     bit < tip->bits && bit < end && !ret;
	     bit = bitset_next(tip, bit + 1)) {
		ret = add_stored(s, (uint32_t)bit);
		if (!ret)
			ret = add_kept(s, (uint32_t)bit);
	}
	return ret;
}

int dropped_deltas_find(struct dropped_deltas *d, const struct walk *w,
			const struct islands *islands, struct error *err)
{
	struct search s = {.found = d, .walk = w, .islands = islands};
	int ret = packs_init(&s.packs, w->odb, err);

	if (!ret && kept_deltas_open(&d->old, w->odb, 0, NULL) == ERR_NOMEM)
		ret = error_nomem(err);
	if (!ret && search_tip(&s) < 0)
		ret = error_nomem(err);
	packs_release(&s.packs);
	return ret;
}

void dropped_deltas_release(struct dropped_deltas *d)
{
	free(d->deltas);
	kept_deltas_close(&d->old);
	*d = (struct dropped_deltas)DROPPED_DELTAS_INIT;
}
