/* SPDX-License-Identifier: MIT */
/*
 * Writes a bitmap index for a pack. Either chooses commits and pseudo-merges
 * and builds their bitmaps (bitmap/choose.c), or builds additions to an older
 * index (bitmap/build.c). bitmap/file-write.c then writes the file.
 */
#include "base/mem.h"
#include "bitmap/build.h"
#include "bitmap/choose.h"
#include "bitmap/file-write.h"
#include "pack-bitmap.h"

/*
 * Maximum number of bytes of the parts whose size does not depend on the pack:
 * headers and checksums. The headers are those of the file, of the type bitmaps
 * and of the section of pseudo-merges.
 */
#define FIXED_BYTES 192

struct types {
	struct ewah sets[BITMAP_TYPE_NR];
};

static void types_release(struct types *types)
{
	for (int i = 0; i < BITMAP_TYPE_NR; i++)
		ewah_release(&types->sets[i]);
}

/*
 * Returns the first bit of a layer's own objects. Returns 0 if the index is not
 * that of a layer.
 */
static uint32_t base_nr(const struct pack_bitmap_write *request)
{
	return request->space ? bitmap_space_base_nr(request->space) : 0;
}

static int types_build(struct types *types,
		       const struct pack_bitmap_write *request)
{
	static const enum bitmap_type by_object_type[] = {
		[OBJ_COMMIT] = BITMAP_COMMITS,
		[OBJ_TREE] = BITMAP_TREES,
		[OBJ_BLOB] = BITMAP_BLOBS,
		[OBJ_TAG] = BITMAP_TAGS,
	};

	for (int i = 0; i < BITMAP_TYPE_NR; i++)
		ewah_init(&types->sets[i]);
	for (uint32_t bit = 0; bit < request->object_nr; bit++) {
		enum bitmap_type type = by_object_type[request->types[bit]];

		if (ewah_set(&types->sets[type], base_nr(request) + bit) < 0)
			return ERR_NOMEM;
	}
	return 0;
}

static void set_update(struct bitmap_build_input *input,
		       const struct pack_bitmap_write *request)
{
	const struct bitmap_update *update = request->update;

	input->commits = update->commits;
	input->commit_nr = update->commit_nr;
	input->lists = &update->lists;
	if (request->previous) {
		input->old = request->previous->entries;
		input->old_nr = request->previous->nr;
	}
	if (request->below) {
		input->below = &request->below->file;
		input->space = &request->below->space;
	}
	input->selected = update->selected;
	input->selected_nr = update->selected_nr;
	input->groups = update->groups.groups;
	input->group_nr = update->groups.nr;
}

/*
 * Returns the memory limit for bitmaps, in bytes: `limit` minus the memory that
 * the lists of new objects take. The result is at least 1. Exception: if
 * `limit` is 0 (no limit), returns 0.
 */
static size_t memory_left(uint64_t limit, const struct newobj_set *lists)
{
	uint64_t used = newobj_size(lists);

	if (!limit)
		return 0;
	return limit > used ? (size_t)(limit - used) : 1;
}

/*
 * Returns how many words of bitmaps fit into the budget of the whole file; 0:
 * no budget is set. A sixteenth of the budget is kept in reserve. The reason:
 * bitmap_choose(), which gets the number of words, counts 32 bytes for each
 * bitmap of a commit in addition to the compressed words. But the file has up
 * to 34 such bytes: 18 for the headers of the bitmap, and 16 for its row in the
 * lookup table.
 */
static size_t budget_words(const struct pack_bitmap_write *request,
			   const struct types *types)
{
	uint64_t fixed = FIXED_BYTES, left;

	if (!request->budget)
		return 0;
	for (int i = 0; i < BITMAP_TYPE_NR; i++)
		fixed += types->sets[i].word_nr * sizeof(uint64_t);
	if (request->hash_cache)
		fixed += (uint64_t)request->object_nr * sizeof(uint32_t);
	left = request->budget > fixed ? request->budget - fixed : 0;
	left = left / 16 * 15 / sizeof(uint64_t);
	return left < 1 ? 1 : left < SIZE_MAX ? (size_t)left : SIZE_MAX;
}

static int build_all(struct bitmap_build_result *built,
		     const struct pack_bitmap_write *request,
		     const struct types *types,
		     struct bitmap_build_input *build, struct error *err)
{
	const struct walk_result *found = request->enumerated;
	struct bitmap_choose_input input = {
		.newest_first = found->revs.commits,
		.is_tip = request->is_tip,
		.pseudo = request->pseudo,
		.object_nr = request->object_nr,
		.budget_words = budget_words(request, types),
	};

	build->commits = found->parents_first;
	build->commit_nr = found->revs.nr;
	build->lists = &found->lists;
	input.build = *build;
	return bitmap_choose(built, &input, err);
}

static int build(struct bitmap_build_result *built,
		 const struct pack_bitmap_write *request,
		 const struct types *types, struct error *err)
{
	const struct newobj_set *lists = request->update
						 ? &request->update->lists
						 : &request->enumerated->lists;
	struct bitmap_build_input input = {
		.history = &request->walk->history,
		.bit_pos = request->bit_pos,
		.bits = (size_t)base_nr(request) + request->object_nr,
		.memory_limit = memory_left(request->memory_limit, lists),
		.progress = request->progress,
	};
	int ret;

	if (request->update) {
		set_update(&input, request);
		ret = bitmap_build(built, &input, err);
	} else {
		ret = build_all(built, request, types, &input, err);
	}
	if (ret == ERR_MISSING && err)
		error_set(err, ret, "%s: no bitmap can be written", err->msg);
	return ret;
}

static uint32_t idx_pos_of(const struct pack_bitmap_write *request,
			   uint32_t obj_pos)
{
	uint32_t bit = request->bit_pos[obj_pos];

	return request->space ? bitmap_space_idx_pos(request->space, bit)
			      : request->idx_pos[bit];
}

static size_t old_group_nr(const struct pack_bitmap_write *request)
{
	return request->previous ? request->previous->group_nr : 0;
}

static void describe(struct bitmap_write_entry *entries,
		     struct bitmap_write_pseudo *pseudo,
		     const struct bitmap_build_result *built,
		     const struct pack_bitmap_write *request)
{
	const struct history *h = &request->walk->history;

	for (size_t i = 0; i < built->entry_nr; i++) {
		const struct bitmap_built *entry = &built->entries[i];
		uint32_t obj = h->commits[entry->commit_nr].obj_pos;

		entries[i] = (struct bitmap_write_entry){
			.idx_pos = idx_pos_of(request, obj),
			.xor_offset = entry->xor_offset,
			.bitmap = &entry->bitmap,
		};
	}
	for (size_t i = 0; i < built->group_nr; i++)
		*pseudo++ = (struct bitmap_write_pseudo){
			&built->groups[i].commits,
			&built->groups[i].objects,
		};
	for (size_t i = 0; i < old_group_nr(request); i++)
		*pseudo++ = (struct bitmap_write_pseudo){
			&request->previous->groups[i].commits,
			&request->previous->groups[i].objects,
		};
}

static int write_file(struct buf *out, const struct bitmap_build_result *built,
		      const struct pack_bitmap_write *request,
		      const struct types *types, struct error *err)
{
	struct bitmap_write_entry *entries = mem_alloc(built->entry_nr,
						       sizeof(*entries));
	size_t group_nr = built->group_nr + old_group_nr(request);
	struct bitmap_write_pseudo *pseudo = mem_alloc(group_nr,
						       sizeof(*pseudo));
	struct bitmap_write w = {
		.algo = request->walk->odb->algo,
		.object_nr = request->object_nr,
		.checksum = request->checksum,
		.entries = entries,
		.entry_nr = (uint32_t)built->entry_nr,
		.pseudo = pseudo,
		.pseudo_nr = (uint32_t)group_nr,
		.hash_cache = request->hash_cache,
		.lookup_table = request->lookup_table,
		.types = types->sets,
	};
	int ret;

	if (entries && pseudo) {
		describe(entries, pseudo, built, request);
		ret = bitmap_file_write(out, &w, err);
	} else {
		ret = error_nomem(err);
	}
	free(entries);
	free(pseudo);
	return ret;
}

int pack_bitmap_write(struct buf *out, const struct pack_bitmap_write *request,
		      struct pack_bitmap_written *written, struct error *err)
{
	struct bitmap_build_result built = {0};
	struct types types = {0};
	size_t before = out->len;
	int ret = types_build(&types, request) < 0
			  ? error_nomem(err)
			  : build(&built, request, &types, err);

	if (!ret)
		ret = write_file(out, &built, request, &types, err);
	types_release(&types);
	if (ret < 0)
		buf_set_len(out, before);
	else if (written)
		*written = (struct pack_bitmap_written){
			.bitmap_nr = (uint32_t)built.entry_nr,
			.pseudo_merge_nr = (uint32_t)(built.group_nr +
						      old_group_nr(request)),
			.file_len = out->len - before,
		};
	bitmap_build_result_release(&built);
	return ret;
}
