/* SPDX-License-Identifier: MIT */
/*
 * Builds all bitmaps of an index again, and compares them with the stored ones.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "bitmap/build.h"
#include "bitmap/verify.h"
#include "pack/chains.h"

struct verify {
	const struct bitmap_file *file;
	struct bitmap_space space;
	struct walk *w;
	/* owned: the commits (commit_nr) that have bitmaps in the index */
	uint32_t *commits;
	size_t commit_nr;
	/*
	 * owned array, indexed by number of a pseudo-merge: the commits of the
	 * pseudo-merge
	 */
	struct bitmap_group *groups;
	/* all commits in `commits` and `groups` */
	struct walk_tips tips;
	struct walk_result found;
	/* owned array, indexed by obj_pos: the bit of the object */
	uint32_t *bit_pos;
	struct bitmap_build_result built;
	struct bitset stored, right, scratch;
};

static void verify_release(struct verify *v)
{
	for (uint32_t i = 0; v->groups && i < v->file->pseudo.nr; i++)
		free(v->groups[i].commits);
	free(v->groups);
	free(v->commits);
	free(v->bit_pos);
	walk_tips_release(&v->tips);
	walk_result_release(&v->found);
	bitmap_build_result_release(&v->built);
	bitset_release(&v->stored);
	bitset_release(&v->right);
	bitset_release(&v->scratch);
}

/* Finds the commit_nr of an indexed commit, and makes the commit a tip. */
static int add_commit(struct verify *v, uint32_t idx_pos, uint32_t *commit_nr,
		      struct error *err)
{
	struct walk_tips *tips = &v->tips;
	int ret = bitmap_verify_commit(commit_nr, v->file, &v->space, v->w,
				       idx_pos, err);

	if (ret < 0)
		return ret;
	if (mem_grow(&tips->commits, &tips->commit_alloc, tips->commit_nr + 1,
		     sizeof(*tips->commits)) < 0)
		return error_nomem(err);
	tips->commits[tips->commit_nr++] = *commit_nr;
	return 0;
}

/* ---- the content of the index */

/*
 * Returns whether a row is the first one of a layer. Rows ascend only within a
 * layer, so the first row of a layer is not compared with the row before it.
 */
static bool is_first(const struct bitmap_file *f, uint32_t row)
{
	while (row < f->base_row_nr)
		f = f->base;
	return row == f->base_row_nr;
}

static int check_order(const struct verify *v, uint32_t row, struct error *err)
{
	uint32_t at = bitmap_file_row(v->file, row).idx_pos;

	if (at >= v->file->object_nr)
		return error_set(
			err, ERR_CORRUPT,
			"%s: the object number of a bitmap is out of range",
			v->file->name);
	if (!is_first(v->file, row) &&
	    bitmap_file_row(v->file, row - 1).idx_pos >= at)
		return error_set(err, ERR_CORRUPT,
				 "%s: rows of bitmaps are out of order at row "
				 "%" PRIu32,
				 v->file->name, row);
	return 0;
}

static int take_rows(struct verify *v, struct error *err)
{
	int ret = 0;

	v->commits = mem_alloc(v->file->row_nr, sizeof(*v->commits));
	if (!v->commits)
		return error_nomem(err);
	for (uint32_t row = 0; row < v->file->row_nr && !ret; row++) {
		uint32_t idx_pos = bitmap_file_row(v->file, row).idx_pos, used;

		ret = check_order(v, row, err);
		/*
		 * If several layers have a bitmap of a commit, queries use only
		 * the bitmap of the highest of these layers. So only this
		 * bitmap is verified.
		 */
		if (!ret && bitmap_file_find(v->file, idx_pos, &used) &&
		    used == row)
			ret = add_commit(v, idx_pos,
					 &v->commits[v->commit_nr++], err);
	}
	return ret;
}

static int take_member(struct verify *v, struct bitmap_group *group, size_t bit,
		       struct error *err)
{
	uint32_t idx_pos;

	if (bit >= v->file->object_nr)
		return error_set(
			err, ERR_CORRUPT,
			"%s: the commit of a pseudo-merge is out of range",
			v->file->name);
	idx_pos = bitmap_space_idx_pos(&v->space, (uint32_t)bit);
	return add_commit(v, idx_pos, &group->commits[group->nr++], err);
}

static int take_group(struct verify *v, uint32_t nr, struct error *err)
{
	struct bitmap_group *group = &v->groups[nr];
	struct pseudo_merge merge;
	struct ewah_bit_iter it;
	size_t bit;
	int ret = pseudo_merges_view(&merge, &v->file->pseudo, nr, err);

	if (ret < 0)
		return ret;
	group->commits = mem_alloc(ewah_count(&merge.commits),
				   sizeof(*group->commits));
	if (!group->commits)
		return error_nomem(err);
	ewah_bit_iter_init(&it, &merge.commits);
	while (!ret && ewah_bit_iter_next(&it, &bit))
		ret = take_member(v, group, bit, err);
	return ret;
}

static int take_groups(struct verify *v, struct error *err)
{
	int ret = pseudo_merges_verify(&v->file->pseudo, err);

	if (ret < 0)
		return ret;
	v->groups = mem_calloc(v->file->pseudo.nr, sizeof(*v->groups));
	if (!v->groups)
		return error_nomem(err);
	for (uint32_t i = 0; i < v->file->pseudo.nr && !ret; i++)
		ret = take_group(v, i, err);
	return ret;
}

/* ---- the right content */

/*
 * Makes v->bit_pos: the bit of each object that the walk v->w knows.
 * UINT32_MAX: the index lacks the object.
 */
static int map_bits(struct verify *v)
{
	uint32_t end = objspace_end(&v->w->space);
	struct bitmap_space_table table;
	int ret = bitmap_space_table_init(&table, &v->space);

	v->bit_pos = mem_alloc(end, sizeof(*v->bit_pos));
	if (!v->bit_pos)
		ret = ERR_NOMEM;
	for (uint32_t i = 0; !ret && i < end; i++)
		if (!bitmap_space_table_bit(&table, &v->space, &v->w->space, i,
					    &v->bit_pos[i]))
			v->bit_pos[i] = UINT32_MAX;
	bitmap_space_table_release(&table);
	return ret;
}

static int build(struct verify *v, const struct progress_out *progress,
		 struct error *err)
{
	struct bitmap_build_input input = {
		.history = &v->w->history,
		.commits = v->found.parents_first,
		.commit_nr = v->found.revs.nr,
		.lists = &v->found.lists,
		.bit_pos = v->bit_pos,
		.bits = v->file->object_nr,
		.selected = v->commits,
		.selected_nr = v->commit_nr,
		.whole = true,
		.groups = v->groups,
		.group_nr = v->file->pseudo.nr,
		.progress = progress,
	};
	int ret = bitmap_build(&v->built, &input, err);

	if (ret != ERR_MISSING)
		return ret;
	if (err)
		error_set(err, ERR_CORRUPT, "%s: %s", v->file->name, err->msg);
	return ERR_CORRUPT;
}

static int enumerate(struct verify *v, const struct progress_out *progress,
		     struct error *err)
{
	struct walk_tips none = WALK_TIPS_INIT;
	struct walk_options options = {
		.objects = true,
		.keep_lists = true,
		.progress = progress,
	};

	return walk_enumerate(&v->found, v->w, &v->tips, &none, &options, err);
}

/* ---- comparison */

/*
 * Compares the stored bitmap in v->stored with `built`, the right bitmap.
 * Returns 0 if both are the same, otherwise ERR_CORRUPT.
 */
static int compare(struct verify *v, const struct ewah *built,
		   const char *whose, struct error *err)
{
	struct ewah_view view = ewah_view_of(built);

	bitset_clear(&v->right);
	ewah_or_into(&v->right, &view);
	return bitmap_verify_same(v->file, v->space, &v->stored, &v->right,
				  whose, err);
}

static int compare_entry(struct verify *v, const struct bitmap_built *built,
			 struct error *err)
{
	const struct history *h = &v->w->history;
	char hex[OID_MAX_HEX_LEN + 1], whose[OID_MAX_HEX_LEN + 16];
	uint32_t idx_pos, row;
	struct oid oid;
	int ret;

	objspace_oid(&oid, &v->w->space, h->commits[built->commit_nr].obj_pos);
	snprintf(whose, sizeof(whose), "commit %s",
		 oid_to_hex(hex, &oid, v->file->algo));
	if (!bitmap_space_idx(&v->space, &v->w->space,
			      h->commits[built->commit_nr].obj_pos, &idx_pos) ||
	    !bitmap_file_find(v->file, idx_pos, &row))
		return error_set(err, ERR_CORRUPT,
				 "%s: bitmap of %s cannot be found",
				 v->file->name, whose);
	bitset_clear(&v->stored);
	ret = bitmap_file_or(&v->stored, v->file, row, &v->scratch, err);
	return ret < 0 ? ret : compare(v, &built->bitmap, whose, err);
}

static int compare_group(struct verify *v, uint32_t nr, struct error *err)
{
	struct pseudo_merge merge;
	char whose[32];
	int ret = pseudo_merges_view(&merge, &v->file->pseudo, nr, err);

	if (ret < 0)
		return ret;
	snprintf(whose, sizeof(whose), "pseudo-merge %" PRIu32, nr);
	bitset_clear(&v->stored);
	ewah_or_into(&v->stored, &merge.objects);
	return compare(v, &v->built.groups[nr].objects, whose, err);
}

static int compare_all(struct verify *v, struct error *err)
{
	int ret = 0;

	if (bitset_init(&v->stored, v->file->object_nr) < 0 ||
	    bitset_init(&v->right, v->file->object_nr) < 0)
		return error_nomem(err);
	for (size_t i = 0; i < v->built.entry_nr && !ret; i++)
		ret = compare_entry(v, &v->built.entries[i], err);
	for (uint32_t i = 0; i < v->built.group_nr && !ret; i++)
		ret = compare_group(v, i, err);
	return ret;
}

int bitmap_verify_all(const struct bitmap_file *file, struct bitmap_space space,
		      struct walk *w, const struct progress_out *progress,
		      struct error *err)
{
	struct verify v = {
		.file = file,
		.space = space,
		.w = w,
		.tips = WALK_TIPS_INIT,
		.found = WALK_RESULT_INIT,
	};
	int ret = take_rows(&v, err);

	if (!ret)
		ret = take_groups(&v, err);
	if (!ret && v.tips.commit_nr) {
		ret = enumerate(&v, progress, err);
		if (!ret && map_bits(&v) < 0)
			ret = error_nomem(err);
		if (!ret)
			ret = build(&v, progress, err);
		if (!ret)
			ret = compare_all(&v, err);
	}
	verify_release(&v);
	return ret;
}

/* ---- types */

static int wrong_type(const struct bitmap_file *file, struct bitmap_space space,
		      uint32_t bit, enum object_type type, struct error *err)
{
	uint32_t idx_pos = bitmap_space_idx_pos(&space, bit);
	char hex[OID_MAX_HEX_LEN + 1];

	return error_set(
		err, ERR_CORRUPT,
		"%s: the type bitmaps do not say that object %s is a %s",
		file->name,
		oid_raw_to_hex(hex, bitmap_space_id(&space, idx_pos),
			       file->algo),
		object_type_name(type));
}

/* Verifies the type bitmaps for the objects of one pack. */
static int verify_part_types(const struct bitmap_file *file,
			     struct bitmap_space space,
			     const struct bitmap_space_part *part,
			     const struct bitset *sets, struct error *err)
{
	struct pack_chains chains;
	uint32_t pack_pos = 0;
	int ret = pack_chains_init(&chains, part->pack->pack, err);

	for (uint32_t i = 0; i < part->nr && !ret; i++) {
		uint32_t bit = part->first + i;
		enum object_type type = OBJ_NONE;
		uint64_t off;

		bitmap_space_locate(&space, bit, &off);
		while (pack_pos < chains.nr &&
		       pack_rev_offset(&chains.rev, pack_pos) < off)
			pack_pos++;
		if (pack_pos < chains.nr &&
		    pack_rev_offset(&chains.rev, pack_pos) == off)
			type = chains.type[pack_pos];
		for (int t = 0; t < BITMAP_TYPE_NR && !ret; t++)
			if (bitset_test(&sets[t], bit) !=
			    (bitmap_object_type(t) == type))
				ret = wrong_type(file, space, bit, type, err);
	}
	pack_chains_release(&chains);
	return ret;
}

int bitmap_verify_types(const struct bitmap_file *file,
			struct bitmap_space space, struct error *err)
{
	struct bitset sets[BITMAP_TYPE_NR] = {BITSET_INIT};
	struct bitmap_space_part *parts;
	size_t part_nr;
	int ret = bitmap_space_parts(&parts, &part_nr, &space);

	for (int t = 0; t < BITMAP_TYPE_NR && !ret; t++) {
		ret = bitset_init(&sets[t], file->object_nr);
		if (!ret)
			bitmap_file_or_type(&sets[t], file, t);
	}
	if (ret < 0)
		error_nomem(err);
	for (size_t i = 0; i < part_nr && !ret; i++)
		ret = verify_part_types(file, space, &parts[i], sets, err);
	for (int t = 0; t < BITMAP_TYPE_NR; t++)
		bitset_release(&sets[t]);
	free(parts);
	return ret;
}
