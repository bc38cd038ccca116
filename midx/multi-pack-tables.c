/* SPDX-License-Identifier: MIT */
/*
 * Fills the tables of a bitmap index that is being made. The tables have the
 * position and type of each object, and say for each commit whether it is a
 * tip.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bitmap/select.h"
#include "midx/multi-pack-making.h"
#include "packs/roots.h"
#include "packs/snapshot.h"

uint32_t making_nr(const struct making *m)
{
	return bitmap_space_nr(m->space) - m->base_nr;
}

int making_mark_tips(struct making *m, bool all_refs, struct error *err)
{
	struct walk_tips preferred = WALK_TIPS_INIT;
	int ret;

	free(m->is_tip);
	m->is_tip = NULL;
	if (!m->rq->refs_snapshot) {
		ret = roots_mark_tips(&m->is_tip, &m->walk, m->rq->refs,
				      all_refs, err);
		m->is_tip_nr = m->walk.history.nr;
		return ret;
	}
	ret = snapshot_add_tips(&m->snapshot, &m->walk, &preferred, true, err);
	if (!ret) {
		m->is_tip_nr = m->walk.history.nr;
		m->is_tip = mem_calloc(m->is_tip_nr, 1);
		if (!m->is_tip)
			ret = error_nomem(err);
	}
	for (size_t i = 0; !ret && i < m->tips.commit_nr; i++)
		m->is_tip[m->tips.commits[i]] = SELECT_REF;
	for (size_t i = 0; !ret && i < preferred.commit_nr; i++)
		m->is_tip[preferred.commits[i]] = SELECT_TIP;
	walk_tips_release(&preferred);
	return ret;
}

int making_alloc_tables(struct making *m, struct error *err)
{
	uint32_t nr = making_nr(m);
	uint32_t end = objspace_end(&m->walk.space);

	m->idx_pos = mem_alloc(nr, sizeof(*m->idx_pos));
	m->obj_pos = mem_alloc(nr, sizeof(*m->obj_pos));
	m->bit_pos = mem_alloc(end, sizeof(*m->bit_pos));
	m->types = mem_calloc(nr, 1);
	if (!m->idx_pos || !m->obj_pos || !m->bit_pos || !m->types)
		return error_nomem(err);
	if (m->rq->options->hash_cache) {
		m->hash_cache = mem_calloc(nr, sizeof(*m->hash_cache));
		if (!m->hash_cache)
			return error_nomem(err);
	}
	memset(m->bit_pos, 0xff, end * sizeof(*m->bit_pos));
	for (uint32_t bit = 0; bit < nr; bit++)
		m->idx_pos[bit] = bitmap_space_idx_pos(m->space,
						       m->base_nr + bit) -
				  m->base_nr;
	return 0;
}

void making_note_object(struct making *m, uint32_t obj_pos,
			enum object_type type, uint32_t name_hash)
{
	uint32_t bit = m->bit_pos[obj_pos];

	if (bit == UINT32_MAX || bit < m->base_nr)
		return;
	bit -= m->base_nr;
	m->types[bit] = (uint8_t)type;
	if (m->hash_cache)
		m->hash_cache[m->idx_pos[bit]] = name_hash;
}

static void number_object(struct making *m, uint32_t obj_pos)
{
	uint32_t bit;

	if (m->bit_pos[obj_pos] == UINT32_MAX &&
	    bitmap_space_bit(m->space, &m->walk.space, obj_pos, &bit))
		m->bit_pos[obj_pos] = bit;
}

void making_number_update(struct making *m)
{
	const struct bitmap_update *u = &m->update;
	const struct history *h = &m->walk.history;

	for (uint32_t c = 0; c < h->nr; c++)
		number_object(m, h->commits[c].obj_pos);
	for (size_t i = 0; i < u->lists.nr; i++) {
		const struct newobj_list *list = &u->lists.lists[i];

		making_note_object(m, h->commits[u->commits[i]].obj_pos,
				   OBJ_COMMIT, 0);
		for (uint32_t k = 0; k < list->nr; k++) {
			number_object(m, list->items[k].obj_pos);
			making_note_object(m, list->items[k].obj_pos,
					   k < list->tree_nr ? OBJ_TREE
							     : OBJ_BLOB,
					   list->items[k].name_hash);
		}
	}
}

int making_look_up_type(struct making *m, uint32_t own_bit, struct error *err)
{
	enum object_type type;
	uint32_t obj_pos;
	int ret = bitmap_space_obj_of_bit(&obj_pos, m->space,
					  m->base_nr + own_bit, err);

	if (!ret)
		ret = objspace_info(&m->walk.space, m->walk.reader, obj_pos,
				    &type, NULL, err);
	if (!ret)
		m->types[own_bit] = (uint8_t)type;
	return ret;
}
