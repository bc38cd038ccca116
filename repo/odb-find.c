/* SPDX-License-Identifier: MIT */
/*
 * Searching the packs of a snapshot for an id: multi-pack-indexes and what
 * they do not cover, in the order that makes positions canonical.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "repo/odb-midx.h"

/* Use the multi-pack-index of directory `i`, or give it up. */
static int link_midx(struct odb *odb, size_t i, bool *covered,
		     struct error *warning, struct error *err)
{
	struct odb_midx *om = odb->midxes[i];
	struct error why = ERROR_INIT;
	int ret = odb_midx_link(om, odb, odb->dirs[i], &why);

	if (ret == ERR_NOMEM)
		return error_nomem(err);
	if (ret < 0) {
		if (warning)
			*warning = why;
		odb_midx_close(om);
		odb->midxes[i] = NULL;
		return 0;
	}
	for (uint32_t p = 0; p < om->midx.pack_nr; p++)
		covered[om->pack_nrs[p]] = true;
	return 0;
}

static void add_midx(struct odb *odb, size_t i)
{
	struct odb_midx *om = odb->midxes[i];

	if (om)
		odb->sources[odb->source_nr++] = (struct odb_source){
			&om->midx.ids, om, 0};
}

/* Local ones, or the others. */
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
	int ret = 0;

	odb->sources = mem_alloc(odb->pack_nr + odb->dir_nr,
				 sizeof(*odb->sources));
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

/* Pack by pack, for an object that a multi-pack-index is wrong about. */
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
