/* SPDX-License-Identifier: MIT */
/*
 * Searches the packs of a snapshot for an id. Multi-pack-indexes are searched
 * before packs that no multi-pack-index covers. The order of the search
 * determines which of several positions of an object is canonical.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "odb/odb-midx.h"

void odb_warn_of_midx(struct odb *odb, const struct error *why,
		      struct error *warning)
{
	if (!warning || (warning->code && !odb->warns_of_midx))
		return;
	*warning = *why;
	odb->warns_of_midx = true;
}

/*
 * Links the multi-pack-index of directory `i` to the snapshot `odb`, which has
 * the packs that were found when the object database was opened. For each pack
 * name in the multi-pack-index, finds the pack of this name in `odb`. If the
 * multi-pack-index is unusable, drops it. If a layer of a chain is unusable,
 * drops this layer and all layers above it. Returns 0 or ERR_NOMEM.
 */
static int link_midx(struct odb *odb, size_t i, bool *covered,
		     struct error *warning, struct error *err)
{
	struct odb_midx *good = odb->midxes[i];

	for (struct odb_midx *om = good; om; om = om->base) {
		struct error why = ERROR_INIT;
		int ret = odb_midx_link(om, odb, odb->dirs[i], &why);

		if (ret == ERR_NOMEM)
			return error_nomem(err);
		if (ret < 0) {
			odb_warn_of_midx(odb, &why, warning);
			good = om->base;
		}
	}
	while (odb->midxes[i] != good)
		odb->midxes[i] = odb_midx_pop(odb->midxes[i]);
	for (const struct odb_midx *om = good; om; om = om->base)
		for (uint32_t p = 0; p < om->midx.pack_nr; p++)
			covered[om->pack_nrs[p]] = true;
	return 0;
}

/*
 * Adds the layers of directory i's multi-pack-index to the sources to search.
 * The lowest layer comes first, because most objects are in it.
 */
static void add_midx(struct odb *odb, size_t i)
{
	struct odb_midx *om = odb->midxes[i];
	size_t nr = odb_midx_layer_nr(om);

	for (size_t at = odb->source_nr + nr; om; om = om->base)
		odb->sources[--at] = (struct odb_source){&om->midx.ids, om, 0};
	odb->source_nr += (uint32_t)nr;
}

/*
 * Adds packs to the sources to search, if no multi-pack-index covers them. If
 * `is_local`, adds local packs, otherwise packs of alternates.
 */
static void add_packs(struct odb *odb, bool is_local, const bool *covered)
{
	for (uint32_t p = 0; p < odb->pack_nr; p++) {
		const struct odb_pack *op = &odb->packs[p];

		if (op->pack->is_local == is_local && !covered[p])
			odb->sources[odb->source_nr++] = (struct odb_source){
				&op->pack->idx.ids, NULL, op->first_pos};
	}
}

int odb_sources_init(struct odb *odb, struct error *warning, struct error *err)
{
	bool *covered = mem_calloc(odb->pack_nr, sizeof(*covered));
	size_t source_nr = odb->pack_nr;
	int ret = 0;

	for (size_t i = 0; i < odb->dir_nr; i++)
		source_nr += odb_midx_layer_nr(odb->midxes[i]);
	odb->sources = mem_alloc(source_nr, sizeof(*odb->sources));
	if (!covered || !odb->sources)
		ret = error_nomem(err);
	for (size_t i = 0; i < odb->dir_nr && !ret; i++)
		if (odb->midxes[i])
			ret = link_midx(odb, i, covered, warning, err);
	if (!ret) {
		add_midx(odb, 0);
		add_packs(odb, true, covered);
		for (size_t i = 1; i < odb->dir_nr; i++)
			add_midx(odb, i);
		add_packs(odb, false, covered);
	}
	free(covered);
	return ret;
}

bool odb_source_pos(const struct odb *odb, const struct odb_source *source,
		    uint32_t ids_pos, uint32_t *odb_pos)
{
	if (source->midx)
		return odb_midx_pos(odb, source->midx, ids_pos, odb_pos);
	*odb_pos = source->first_pos + ids_pos;
	return true;
}

/*
 * Searches the index of each pack for an id. Used if a multi-pack-index has a
 * wrong entry for the id. Returns false if no index has the id.
 */
static bool search_packs(const struct odb *odb, const uint8_t *raw,
			 uint32_t *odb_pos)
{
	uint32_t idx_pos;

	for (uint32_t i = 0; i < odb->pack_nr; i++) {
		if (pack_idx_find(&odb->packs[i].pack->idx, raw, &idx_pos)) {
			*odb_pos = odb->packs[i].first_pos + idx_pos;
			return true;
		}
	}
	return false;
}

bool odb_find_raw(const struct odb *odb, const uint8_t *raw, uint32_t *odb_pos)
{
	uint32_t ids_pos;

	for (uint32_t i = 0; i < odb->source_nr; i++)
		if (pack_ids_find(odb->sources[i].ids, raw, &ids_pos))
			return odb_source_pos(odb, &odb->sources[i], ids_pos,
					      odb_pos) ||
			       search_packs(odb, raw, odb_pos);
	return false;
}
