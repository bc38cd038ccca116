/* SPDX-License-Identifier: MIT */
/* Look-up tables over the packs of a snapshot. */
#include "base/mem.h"
#include "repack/packs.h"

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

int packs_prepare(struct packs *p, uint32_t pack_nr, struct error *err)
{
	struct packs_table *table = &p->tables[pack_nr];

	if (table->rev)
		return 0;
	table->rev = pack_get_rev(p->odb->packs[pack_nr].pack, err);
	if (!table->rev)
		return ERR_NOMEM;
	table->pack_pos = pack_rev_invert(table->rev);
	return table->pack_pos ? 0 : error_nomem(err);
}

int packs_stored(struct packs_stored *stored, const struct packs *p,
		 uint32_t pack_nr, uint32_t idx_pos, struct error *err)
{
	const struct pack *pack = p->odb->packs[pack_nr].pack;
	const struct packs_table *table = &p->tables[pack_nr];
	uint64_t off = pack_idx_offset(&pack->idx, idx_pos);
	uint64_t end = pack_rev_offset(table->rev,
				       table->pack_pos[idx_pos] + 1);
	int ret = pack_entry_at(&stored->entry, pack, off, err);

	if (ret < 0)
		return ret;
	if (end > pack->map.len || end < off ||
	    end - off < stored->entry.header_len)
		return error_set_at(err, ERR_CORRUPT, pack->path, off,
				    "pack entry overlaps the next");
	stored->bytes = pack->map.data + off;
	stored->len = (size_t)(end - off);
	stored->off = off;
	return 0;
}

int packs_base(uint32_t *base_idx_pos, const struct packs *p, uint32_t pack_nr,
	       uint32_t idx_pos, const struct packs_stored *stored,
	       struct error *err)
{
	const struct pack *pack = p->odb->packs[pack_nr].pack;
	const struct packs_table *table = &p->tables[pack_nr];
	uint32_t pack_pos;

	if (stored->entry.type == OBJ_REF_DELTA)
		return pack_idx_find(&pack->idx, stored->entry.base_oid,
				     base_idx_pos);
	if (!pack_rev_find_before(table->rev, table->pack_pos[idx_pos],
				  stored->off - stored->entry.base_distance,
				  &pack_pos))
		return error_set_at(err, ERR_CORRUPT, pack->path, stored->off,
				    "delta base is no object");
	*base_idx_pos = pack_rev_idx_pos(table->rev, pack_pos);
	return 1;
}
