/* SPDX-License-Identifier: MIT */
/* Makes tables of the positions of objects in the packs of a snapshot. */
#include "base/mem.h"
#include "packing/packs.h"

/*
 * If there is at least one look-up for each MANY_RATIO objects, a table costs
 * less than the look-ups.
 */
#define MANY_RATIO 64

int packs_init(struct packs *p, const struct odb *odb, struct error *err)
{
	p->odb = odb;
	p->tables = mem_calloc(odb->pack_nr, sizeof(*p->tables));
	return p->tables ? 0 : error_nomem(err);
}

void packs_release(struct packs *p)
{
	for (uint32_t i = 0; p->tables && i < p->odb->pack_nr; i++)
		free(p->tables[i].pack_pos);
	free(p->tables);
	p->tables = NULL;
}

int packs_prepare(struct packs *p, uint32_t pack_nr, size_t look_ups,
		  struct error *err)
{
	struct packs_table *table = &p->tables[pack_nr];
	struct pack *pack = p->odb->packs[pack_nr].pack;

	if (table->rev)
		return 0;
	if (look_ups < pack->idx.nr / MANY_RATIO) {
		table->rev = pack_get_rev_unproven(pack, err);
		return table->rev ? 0 : ERR_NOMEM;
	}
	table->rev = pack_get_rev(pack, err);
	if (!table->rev)
		return ERR_NOMEM;
	table->pack_pos = pack_rev_invert(table->rev);
	return table->pack_pos ? 0 : error_nomem(err);
}

/*
 * Find the position of an object in the pack order (`rev`) of its pack. If the
 * order lacks the object, the order is wrong, and is computed again. Returns 0,
 * ERR_CORRUPT or ERR_NOMEM.
 */
static int place_of(const struct pack_rev **rev, uint32_t *pack_pos,
		    const struct packs *p, uint32_t pack_nr, uint32_t idx_pos,
		    struct error *err)
{
	const struct packs_table *table = &p->tables[pack_nr];
	struct pack *pack = p->odb->packs[pack_nr].pack;
	uint64_t off = pack_idx_offset(&pack->idx, idx_pos);

	*rev = table->rev;
	if (table->pack_pos) {
		*pack_pos = table->pack_pos[idx_pos];
		return 0;
	}
	if (pack_rev_find(*rev, off, pack_pos))
		return 0;
	*rev = pack_get_rev(pack, err);
	if (!*rev)
		return ERR_NOMEM;
	if (pack_rev_find(*rev, off, pack_pos))
		return 0;
	return error_set_at(err, ERR_CORRUPT, pack->path, off,
			    "two objects have the same offset");
}

int packs_stored(struct packs_stored *stored, const struct packs *p,
		 uint32_t pack_nr, uint32_t idx_pos, struct error *err)
{
	const struct pack *pack = p->odb->packs[pack_nr].pack;
	uint64_t off = pack_idx_offset(&pack->idx, idx_pos);
	const struct pack_rev *rev;
	uint64_t end;
	uint32_t pack_pos;
	int ret = place_of(&rev, &pack_pos, p, pack_nr, idx_pos, err);

	if (!ret)
		ret = pack_entry_at(&stored->entry, pack, off, err);
	if (ret < 0)
		return ret;
	end = pack_rev_offset(rev, pack_pos + 1);
	if (end > pack->file.len || end < off ||
	    end - off < stored->entry.header_len)
		return error_set_at(err, ERR_CORRUPT, pack->path, off,
				    "pack entry overlaps the next");
	stored->bytes = pack_bytes(pack, NULL) + off;
	stored->len = (size_t)(end - off);
	stored->off = off;
	return 0;
}

int packs_base(uint32_t *base_idx_pos, const struct packs *p, uint32_t pack_nr,
	       uint32_t idx_pos, const struct packs_stored *stored,
	       struct error *err)
{
	const struct pack *pack = p->odb->packs[pack_nr].pack;
	const struct pack_rev *rev;
	uint32_t pack_pos;
	int ret;

	if (stored->entry.type == OBJ_REF_DELTA)
		return pack_idx_find(&pack->idx, stored->entry.base_oid,
				     base_idx_pos);
	ret = place_of(&rev, &pack_pos, p, pack_nr, idx_pos, err);
	if (ret < 0)
		return ret;
	if (!pack_rev_find_before(rev, pack_pos,
				  stored->off - stored->entry.base_distance,
				  &pack_pos))
		return error_set_at(
			err, ERR_CORRUPT, pack->path, stored->off,
			"no object begins at the offset of the delta base");
	*base_idx_pos = pack_rev_idx_pos(rev, pack_pos);
	return 1;
}
