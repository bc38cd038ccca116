/* SPDX-License-Identifier: MIT */
/* Converts the bitmaps of an older index to the bits of a new one. */
#include <stdlib.h>

#include "base/mem.h"
#include "bitmap/previous.h"

struct loading {
	struct bitmap_previous *p;
	struct walk *w;
	/*
	 * scratch memory for one bitmap: `from` has the old bits, `to` has the
	 * new bits
	 */
	struct bitset from, to;
	/*
	 * owned array, indexed by row of the old file: the index in p->entries
	 * of the row's bitmap
	 */
	uint32_t *place;
};

/*
 * Converts a set of bits of the old index, as it is stored, to bits of the new
 * index. Returns 0 if converted, 1 if the set has an object that the new index
 * lacks, or ERR_NOMEM.
 */
static int map_set(struct loading *l, struct ewah *out,
		   const struct ewah_view *stored)
{
	bitset_clear(&l->from);
	ewah_or_into(&l->from, stored);
	if (!bitmap_remap_set(&l->p->map, &l->to, &l->from))
		return 1;
	return ewah_from_bitset(out, &l->to);
}

/*
 * Sorts the rows of the old file in the order of their entries. Returns 0 or
 * ERR_NOMEM.
 */
static int sort_rows(struct loading *l, uint32_t *order)
{
	const struct bitmap_file *f = l->p->file;

	if (bitmap_file_order(order, f) < 0)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < f->row_nr; i++)
		l->place[order[i]] = i;
	return 0;
}

static int take_commit(struct loading *l, struct bitmap_built *entry,
		       uint32_t idx_pos)
{
	uint32_t obj_pos;

	if (idx_pos >= l->p->file->object_nr)
		return 1;
	if (objspace_add(&l->w->space, bitmap_space_id(l->p->from, idx_pos),
			 &obj_pos) < 0)
		return ERR_NOMEM;
	return history_add(&l->w->history, obj_pos, &entry->commit_nr);
}

static int take_entry(struct loading *l, uint32_t row)
{
	struct bitmap_previous *p = l->p;
	struct bitmap_row at = bitmap_file_row(p->file, row);
	struct bitmap_built *entry = &p->entries[p->nr];
	struct ewah_view stored;
	uint32_t back = 0;
	int ret;

	ewah_init(&entry->bitmap);
	if (at.xor_row != BITMAP_NO_XOR) {
		if (at.xor_row >= p->file->row_nr)
			return 1;
		back = (uint32_t)p->nr - l->place[at.xor_row];
		if (!back || back > p->nr || back > BITMAP_WRITE_XOR_OFFSET)
			return 1;
	}
	entry->xor_offset = (uint8_t)back;
	p->nr++;
	if (bitmap_file_view(&stored, p->file, row, NULL) < 0)
		return 1;
	ret = take_commit(l, entry, at.idx_pos);
	return ret ? ret : map_set(l, &entry->bitmap, &stored);
}

static int take_entries(struct loading *l)
{
	struct bitmap_previous *p = l->p;
	uint32_t *order = mem_alloc(p->file->row_nr, sizeof(*order));
	int ret = ERR_NOMEM;

	p->entries = mem_calloc(p->file->row_nr, sizeof(*p->entries));
	l->place = mem_alloc(p->file->row_nr, sizeof(*l->place));
	if (order && p->entries && l->place)
		ret = sort_rows(l, order);
	for (uint32_t i = 0; i < p->file->row_nr && !ret; i++)
		ret = take_entry(l, order[i]);
	free(order);
	return ret;
}

static int take_group(struct loading *l, uint32_t nr)
{
	struct bitmap_built_group *group = &l->p->groups[l->p->group_nr];
	struct pseudo_merge merge;
	int ret;

	ewah_init(&group->commits);
	ewah_init(&group->objects);
	l->p->group_nr++;
	if (pseudo_merges_view(&merge, &l->p->file->pseudo, nr, NULL) < 0)
		return 1;
	ret = map_set(l, &group->commits, &merge.commits);
	return ret ? ret : map_set(l, &group->objects, &merge.objects);
}

static int take_groups(struct loading *l)
{
	uint32_t nr = l->p->file->pseudo.nr;
	int ret = 0;

	l->p->groups = mem_calloc(nr, sizeof(*l->p->groups));
	if (!l->p->groups)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < nr && !ret; i++)
		ret = take_group(l, i);
	return ret;
}

int bitmap_previous_load(struct bitmap_previous *previous,
			 const struct bitmap_file *file,
			 const struct bitmap_space *from,
			 const struct bitmap_space *to, struct walk *w,
			 struct error *err)
{
	struct loading l = {.p = previous, .w = w};
	int ret;

	*previous = (struct bitmap_previous){
		.file = file,
		.from = from,
		.to = to,
	};
	ret = bitmap_remap_init(&previous->map, from, to);
	if (!ret && (bitset_init(&l.from, bitmap_space_nr(from)) < 0 ||
		     bitset_init(&l.to, bitmap_space_nr(to)) < 0))
		ret = ERR_NOMEM;
	if (!ret)
		ret = take_entries(&l);
	if (!ret)
		ret = take_groups(&l);
	bitset_release(&l.from);
	bitset_release(&l.to);
	free(l.place);
	return ret < 0 ? error_nomem(err) : ret;
}

void bitmap_previous_release(struct bitmap_previous *previous)
{
	for (size_t i = 0; i < previous->nr; i++)
		ewah_release(&previous->entries[i].bitmap);
	for (size_t i = 0; i < previous->group_nr; i++) {
		ewah_release(&previous->groups[i].commits);
		ewah_release(&previous->groups[i].objects);
	}
	free(previous->entries);
	free(previous->groups);
	bitmap_remap_release(&previous->map);
	*previous = (struct bitmap_previous){0};
}

static void note_hashes(const struct bitmap_previous *p, uint32_t *hash_cache)
{
	for (size_t i = 0; i < p->map.run_nr; i++) {
		const struct bitmap_run *run = &p->map.runs[i];

		for (uint32_t k = 0; k < run->nr; k++)
			hash_cache[bitmap_space_idx_pos(p->to, run->to + k)] =
				bitmap_file_name_hash(
					p->file,
					bitmap_space_idx_pos(p->from,
							     run->from + k));
	}
}

int bitmap_previous_note(const struct bitmap_previous *previous, uint8_t *types,
			 uint32_t *hash_cache)
{
	struct bitset from;

	if (hash_cache && previous->file->hash_cache)
		note_hashes(previous, hash_cache);
	if (bitset_init(&from, previous->map.from_nr) < 0)
		return ERR_NOMEM;
	for (int t = 0; t < BITMAP_TYPE_NR; t++) {
		bitset_clear(&from);
		bitmap_file_or_type(&from, previous->file, t);
		for (size_t i = 0; i < previous->map.run_nr; i++) {
			const struct bitmap_run *run = &previous->map.runs[i];

			for (size_t bit = bitset_next(&from, run->from);
			     bit < (size_t)run->from + run->nr;
			     bit = bitset_next(&from, bit + 1))
				types[run->to + (bit - run->from)] =
					(uint8_t)bitmap_object_type(t);
		}
	}
	bitset_release(&from);
	return 0;
}
