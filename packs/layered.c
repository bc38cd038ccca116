/* SPDX-License-Identifier: MIT */
/*
 * Decides which layers of a chain of multi-pack-indexes, and which packs, a
 * repack leaves as they are.
 */
#include "packs/layered.h"

static const struct pack *pack_of(const struct odb *odb,
				  const struct odb_midx *om, uint32_t midx_pack)
{
	return odb->packs[om->pack_nrs[midx_pack]].pack;
}

void layered_spare(struct old_packs *old, const struct odb *odb,
		   uint64_t threshold)
{
	const struct odb_midx *om = odb->midxes[0];

	if (om && om->midx.pack_nr >= threshold)
		om = om->base;
	for (; om; om = om->base)
		for (uint32_t i = 0; i < om->midx.pack_nr; i++)
			old_packs_spare(old, pack_of(odb, om, i)->name);
}

static bool names_any(const struct odb *odb, const struct odb_midx *om,
		      const struct strlist *names)
{
	for (uint32_t i = 0; i < om->midx.pack_nr; i++)
		if (pack_names_has(names, pack_of(odb, om, i)->name))
			return true;
	return false;
}

struct odb_midx *layered_base(const struct odb *odb,
			      const struct strlist *leaving)
{
	struct odb_midx *base = odb->midxes[0];

	for (const struct odb_midx *om = base; om; om = om->base)
		if (names_any(odb, om, leaving))
			base = om->base;
	return base;
}

bool layered_covers(const struct odb *odb, const struct odb_midx *top,
		    const struct pack *pack)
{
	for (; top; top = top->base)
		for (uint32_t i = 0; i < top->midx.pack_nr; i++)
			if (pack_of(odb, top, i) == pack)
				return true;
	return false;
}

struct odb_midx *layered_lowest(struct odb_midx *top, uint64_t factor)
{
	uint64_t nr = top->midx.nr;

	while (top->base && nr > top->base->midx.nr / factor) {
		top = top->base;
		nr += top->midx.nr;
	}
	return top;
}
