/* SPDX-License-Identifier: MIT */
/*
 * Writing a bitmap index for a pack: choose commits (bitmap/select.c), build
 * their bitmaps (bitmap/build.c), put the file together
 * (bitmap/file-write.c).
 */
#include "base/mem.h"
#include "bitmap/build.h"
#include "bitmap/file-write.h"
#include "bitmap/select.h"
#include "pack-bitmap.h"

struct types {
	struct ewah sets[BITMAP_TYPE_NR];
};

static void types_release(struct types *types)
{
	for (int i = 0; i < BITMAP_TYPE_NR; i++)
		ewah_release(&types->sets[i]);
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

		if (ewah_set(&types->sets[type], bit) < 0)
			return ERR_NOMEM;
	}
	return 0;
}

static int build(struct bitmap_built **built, const uint32_t *selected,
		 size_t selected_nr, const struct pack_bitmap_write *request,
		 struct error *err)
{
	struct bitmap_build_input input = {
		.history = &request->walk->history,
		.commits = request->enumerated->parents_first,
		.commit_nr = request->enumerated->revs.nr,
		.lists = &request->enumerated->lists,
		.bit_pos = request->bit_pos,
		.bits = request->object_nr,
		.selected = selected,
		.selected_nr = selected_nr,
		.progress = request->progress,
	};

	return bitmap_build(built, &input, err);
}

static int write_file(struct buf *out, const struct bitmap_built *built,
		      size_t built_nr, const struct pack_bitmap_write *request,
		      struct error *err)
{
	const struct history *h = &request->walk->history;
	struct bitmap_write_entry *entries = mem_alloc(built_nr,
						       sizeof(*entries));
	struct bitmap_write w = {
		.algo = request->walk->odb->algo,
		.object_nr = request->object_nr,
		.checksum = request->checksum,
		.entries = entries,
		.entry_nr = (uint32_t)built_nr,
		.hash_cache = request->hash_cache,
		.lookup_table = request->lookup_table,
	};
	struct types types = {0};
	int ret = 0;

	if (!entries || types_build(&types, request) < 0) {
		ret = error_nomem(err);
		goto out;
	}
	w.types = types.sets;
	for (size_t i = 0; i < built_nr; i++) {
		uint32_t obj = h->commits[built[i].commit_nr].obj_pos;

		entries[i] = (struct bitmap_write_entry){
			.idx_pos = request->idx_pos[request->bit_pos[obj]],
			.xor_offset = built[i].xor_offset,
			.bitmap = &built[i].bitmap,
		};
	}
	ret = bitmap_file_write(out, &w, err);
out:
	types_release(&types);
	free(entries);
	return ret;
}

int pack_bitmap_write(struct buf *out, const struct pack_bitmap_write *request,
		      struct pack_bitmap_written *written, struct error *err)
{
	const struct walk_result *found = request->enumerated;
	struct bitmap_built *built = NULL;
	uint32_t *selected = NULL;
	size_t selected_nr = 0, before = out->len;
	int ret = bitmap_select(&selected, &selected_nr,
				&request->walk->history, found->revs.commits,
				found->revs.nr, request->is_tip, err);

	if (!ret)
		ret = build(&built, selected, selected_nr, request, err);
	if (!ret)
		ret = write_file(out, built, selected_nr, request, err);
	if (ret < 0)
		buf_set_len(out, before);
	else if (written)
		*written = (struct pack_bitmap_written){
			(uint32_t)selected_nr,
			out->len - before,
		};
	bitmap_built_free(built, selected_nr);
	free(selected);
	return ret;
}
