/* SPDX-License-Identifier: MIT */
/* Counts stored deltas that cross delta islands. */
#include "islands/islands.h"
#include "packing/packs.h"
#include "packs/crossing.h"

struct crossing {
	struct crossing_report *report;
	struct walk *walk;
	struct islands islands;
	struct packs packs;
	struct error *err;
};

/* Returns the obj_pos of the object at `idx_pos` of a pack. */
static uint32_t obj_pos_of(const struct crossing *c,
			   const struct odb_pack *pack, uint32_t idx_pos)
{
	uint32_t obj_pos = pack->first_pos + idx_pos;

	odb_find_raw(c->walk->odb, pack_idx_oid(&pack->pack->idx, idx_pos),
		     &obj_pos);
	return obj_pos;
}

/*
 * Count the object at `idx_pos` of pack `nr` if it is stored as a delta.
 * Returns 0 or a negative error code.
 */
static int count_object(struct crossing *c, uint32_t nr, uint32_t idx_pos)
{
	const struct odb_pack *pack = &c->walk->odb->packs[nr];
	struct packs_stored stored;
	uint32_t base;
	int ret = packs_stored(&stored, &c->packs, nr, idx_pos, c->err);

	if (ret < 0 || (stored.entry.type != OBJ_OFS_DELTA &&
			stored.entry.type != OBJ_REF_DELTA))
		return ret;
	c->report->delta_nr++;
	ret = packs_base(&base, &c->packs, nr, idx_pos, &stored, c->err);
	if (ret > 0 &&
	    !islands_may_delta(&c->islands, obj_pos_of(c, pack, idx_pos),
			       obj_pos_of(c, pack, base)))
		c->report->crossing_nr++;
	return ret < 0 ? ret : 0;
}

static int count_pack(struct crossing *c, uint32_t nr)
{
	uint32_t object_nr = c->walk->odb->packs[nr].pack->idx.nr;
	int ret = packs_prepare(&c->packs, nr, object_nr, c->err);

	for (uint32_t i = 0; i < object_nr && !ret; i++)
		ret = count_object(c, nr, i);
	return ret;
}

static int count_all(struct crossing *c)
{
	const struct islands *islands = &c->islands;
	int ret = packs_init(&c->packs, c->walk->odb, c->err);

	c->report->island_nr = islands->sets.island_nr;
	for (uint32_t i = 0; i < islands->end; i++)
		c->report->object_nr += islands->set_of[i] != ISLAND_SET_EMPTY;
	for (uint32_t i = 0; i < c->walk->odb->pack_nr && !ret; i++)
		ret = count_pack(c, i);
	packs_release(&c->packs);
	return ret;
}

int crossing_count(struct crossing_report *report, struct walk *walk,
		   const struct walk_result *found, struct refs *refs,
		   struct error *err)
{
	const struct walk_tips no_heads = WALK_TIPS_INIT;
	struct crossing c = {report, walk, ISLANDS_INIT, .err = err};
	int ret;

	*report = (struct crossing_report){0};
	c.islands.skips_broken = true;
	ret = islands_mark_refs(&c.islands, walk, found, refs, &no_heads, NULL,
				err);
	if (!ret && c.islands.set_of)
		ret = count_all(&c);
	islands_release(&c.islands);
	return ret;
}
