/* SPDX-License-Identifier: MIT */
/*
 * Makes the bitmap index of a layer of a chain. For a new layer, bitmaps are
 * made from new commits and from the bitmaps of the layers below. If layers
 * are merged, the bitmaps of the merged layers are copied.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bitmap/select.h"
#include "midx/multi-pack-making.h"

/* ---- a new layer */

int making_prepare_layer(struct making *m, struct error *err)
{
	const struct bitmap_update_input input = {
		.below = &m->rq->below->file,
		.space = m->space,
		.walk = &m->walk,
		.tips = m->tips.commits,
		.tip_nr = m->tips.commit_nr,
		.threads = m->rq->options->make.threads,
		.memory_limit = newpack_bitmap_memory(m->rq->options,
						      m->walk.odb),
		.progress = m->rq->options->make.progress,
	};
	struct bitmap_update_input in = input;
	int ret = making_mark_tips(m, false, err);

	in.is_tip = m->is_tip;
	in.is_tip_nr = m->is_tip_nr;
	if (!ret)
		ret = bitmap_update_choose(&m->update, &in, err);
	if (!ret)
		ret = making_alloc_tables(m, err);
	if (ret < 0)
		return ret;
	making_number_update(m);
	/*
	 * Look up the types that are still unknown: the types of tags and of
	 * unreachable objects. The walk over new commits did not visit these
	 * objects.
	 */
	for (uint32_t bit = 0; bit < making_nr(m) && !ret; bit++)
		if (!m->types[bit])
			ret = making_look_up_type(m, bit, err);
	return ret;
}

/* ---- merging layers */

/*
 * Returns how many of `nr` bitmaps a merged layer keeps. `commit_nr` is the
 * number of commits that the layers cover.
 */
static size_t choose_most(const struct making *m, size_t nr, size_t commit_nr)
{
	uint32_t object_nr = bitmap_space_nr(m->space);
	size_t most = bitmap_select_nr(commit_nr,
				       bitmap_select_dense_nr(object_nr));

	/*
	 * Drop bitmaps only if there are more than twice as many as the merged
	 * layer should keep (`most`). If each merge dropped bitmaps down to
	 * `most`, it would drop some of the bitmaps of old commits each time.
	 * After several merges, old commits would have too few bitmaps.
	 */
	return nr > 2 * most ? most : nr;
}

/*
 * Choose the commits whose bitmaps the merged layer keeps. `rows` are the rows
 * (bitmaps) of the layers that are merged, in the order of the bitmap files:
 * the bitmap of an ancestor stands before those of its descendants. The chosen
 * commits keep this order. Returns 0, ERR_CORRUPT or ERR_NOMEM.
 */
static int choose_rows(struct making *m, const uint32_t *rows, size_t nr,
		       size_t most, struct error *err)
{
	const struct pack_bitmap *below = m->rq->below;
	struct bitmap_update *u = &m->update;

	u->commits = mem_alloc(most, sizeof(*u->commits));
	u->selected = mem_alloc(most, sizeof(*u->selected));
	if (!u->commits || !u->selected)
		return error_nomem(err);
	/*
	 * Choose commits at even distances in `rows`, and always the last
	 * commit.
	 */
	for (size_t i = 0; i < most; i++) {
		uint32_t row = rows[(i + 1) * nr / most - 1], obj_pos, used, c;
		uint32_t idx_pos = bitmap_file_row(&below->file, row).idx_pos;

		if (idx_pos >= below->file.object_nr)
			return error_set(err, ERR_CORRUPT,
					 "%s: the object number of a bitmap is "
					 "out of range",
					 below->path);
		if (!bitmap_file_find(&below->file, idx_pos, &used) ||
		    used != row)
			continue;
		if (objspace_add(&m->walk.space,
				 bitmap_space_id(&below->space, idx_pos),
				 &obj_pos) < 0 ||
		    history_add(&m->walk.history, obj_pos, &c) < 0)
			return error_nomem(err);
		u->commits[u->commit_nr++] = c;
		u->selected[u->selected_nr++] = c;
	}
	return 0;
}

/*
 * Copy types and path hashes of objects from the bitmap indexes of the merged
 * layers. Returns 0 or ERR_NOMEM.
 */
static int note_known(struct making *m, struct error *err)
{
	const struct pack_bitmap *below = m->rq->below;
	struct bitset set = BITSET_INIT;
	int ret = bitset_init(&set, below->file.object_nr);

	for (int t = 0; t < BITMAP_TYPE_NR && !ret; t++) {
		bitset_clear(&set);
		bitmap_file_or_type(&set, &below->file, t);
		for (size_t bit = bitset_next(&set, m->base_nr); bit < set.bits;
		     bit = bitset_next(&set, bit + 1))
			m->types[bit - m->base_nr] =
				(uint8_t)bitmap_object_type(t);
	}
	bitset_release(&set);
	for (uint32_t bit = 0; m->hash_cache && bit < making_nr(m); bit++)
		m->hash_cache[m->idx_pos[bit]] = bitmap_file_name_hash(
			&below->file,
			bitmap_space_idx_pos(&below->space, m->base_nr + bit));
	return ret < 0 ? error_nomem(err) : 0;
}

/*
 * Returns ERR_CORRUPT if the bitmap indexes of the merged layers do not say the
 * type of an object, else 0.
 */
static int check_types(const struct making *m, struct error *err)
{
	if (memchr(m->types, 0, making_nr(m)))
		return error_set(err, ERR_CORRUPT,
				 "%s: types of objects are missing",
				 m->rq->below->path);
	return 0;
}

/*
 * Merging replaces adjacent layers of the chain by one new layer. The layers
 * below the new layer are not changed. Returns how many bitmaps belong to these
 * lower layers. Their bitmaps come first in the old bitmap index.
 */
static uint32_t base_row_nr(const struct making *m)
{
	const struct bitmap_file *f = &m->rq->below->file;

	while (f && f->object_nr > m->base_nr)
		f = f->base;
	return f ? f->row_nr : 0;
}

int making_prepare_compaction(struct making *m, struct error *err)
{
	const struct bitmap_file *f = &m->rq->below->file;
	uint32_t *rows = mem_alloc(f->row_nr, sizeof(*rows));
	uint32_t first = base_row_nr(m);
	size_t nr = f->row_nr - first, most;
	int ret = rows && !bitmap_file_order(rows, f) ? 0 : error_nomem(err);

	m->update = (struct bitmap_update){.lists = NEWOBJ_SET_INIT,
					   .groups = PSEUDO_GROUPS_INIT};
	most = choose_most(m, nr, bitmap_file_count_type(f, BITMAP_COMMITS));
	if (!ret)
		ret = choose_rows(m, rows + first, nr, most, err);
	if (!ret)
		ret = making_alloc_tables(m, err);
	if (!ret)
		ret = note_known(m, err);
	if (!ret)
		ret = check_types(m, err);
	if (!ret)
		making_number_update(m);
	free(rows);
	return ret;
}
