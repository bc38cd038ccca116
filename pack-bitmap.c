/* SPDX-License-Identifier: MIT */
/*
 * Opens a bitmap index, and maps its bits to objects. pack-bitmap-query.c
 * queries the index, and bitmap/file.c parses its file.
 */
#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "bitmap/verify.h"
#include "pack-bitmap.h"

char *pack_bitmap_path(const char *pack_base)
{
	struct buf path = BUF_INIT;

	if (buf_printf(&path, "%s.bitmap", pack_base) < 0)
		return NULL;
	return buf_detach(&path, NULL);
}

/*
 * Checks that the bitmap index belongs to its pack or multi-pack-index: it must
 * contain the checksum of the pack or multi-pack-index. Returns 0 or
 * ERR_CORRUPT.
 */
static int check_owner(const struct pack_bitmap *pb, const uint8_t *checksum,
		       const char *what, struct error *err)
{
	if (memcmp(pb->file.checksum, checksum, hash_len(pb->odb->algo)) != 0)
		return error_set(err, ERR_CORRUPT,
				 "%s: bitmap index belongs to another %s",
				 pb->path, what);
	return 0;
}

/* Maps and parses the bitmap index file, whose bitmaps have `nr` bits. */
static int load_file(struct pack_bitmap *pb, uint32_t nr,
		     const uint8_t *checksum, const char *what,
		     struct error *err)
{
	int ret = sys_map_open(&pb->map, pb->path, err);

	if (!ret)
		ret = bitmap_file_parse_layer(&pb->file, pb->map.data,
					      pb->map.len, nr,
					      pb->base ? &pb->base->file : NULL,
					      pb->odb->algo, pb->path, err);
	if (!ret)
		ret = check_owner(pb, checksum, what, err);
	return ret;
}

/*
 * Verifies the order that maps bits to objects: the order of the pack, or of
 * the multi-pack-index. For a small multi-pack-index nothing is done, because
 * opening the index has verified its order. Returns 0 or a negative error code.
 */
static int prove_order(const struct pack_bitmap *pb, struct error *err)
{
	const struct bitmap_space *space = &pb->space;
	int ret = 0;

	if (space->pack)
		return pack_check_rev(space->pack->pack, space->rev, err);
	for (; pb && !ret; pb = pb->base)
		if (!pb->order_is_proven)
			ret = pack_midx_order_prove(&pb->order, err);
	return ret;
}

/*
 * Hashes the bitmap index and the .rev file of a pack at the same time, which
 * is faster than one after the other. Returns whether both have the right
 * checksum. If not, the caller verifies the two files one after the other.
 */
static bool prove_together(const struct pack_bitmap *pb)
{
	const struct bitmap_space *space = &pb->space;

	return space->pack && !pb->base &&
	       pack_check_rev_with(space->pack->pack, space->rev,
				   pb->file.bytes, pb->file.len) > 0;
}

int pack_bitmap_prove(const struct pack_bitmap *pb, struct error *err)
{
	int ret;

	if (prove_together(pb))
		return 0;
	ret = bitmap_file_verify(&pb->file, err);
	return ret < 0 ? ret : prove_order(pb, err);
}

static int open_for_pack(struct pack_bitmap *pb, const struct odb_pack *pack,
			 struct error *err)
{
	const struct pack_rev *rev;
	int ret;

	pb->path = pack_bitmap_path(pack->pack->path);
	if (!pb->path)
		return error_nomem(err);
	ret = load_file(pb, pack->pack->idx.nr, pack->pack->checksum.bytes,
			"pack", err);
	if (ret < 0)
		return ret;
	rev = pack_get_rev_unproven(pack->pack, err);
	if (!rev)
		return ERR_NOMEM;
	pb->space = bitmap_space_of_pack(pb->odb, pack, rev);
	return 0;
}

/*
 * Reads the object order of a multi-pack-index. Old versions of Git stored this
 * order in a .rev file.
 */
static int take_midx_order(struct pack_bitmap *pb, struct odb_midx *om,
			   struct error *err)
{
	struct error why = ERROR_INIT;
	char *path = NULL;
	int ret = 1;

	pb->space = bitmap_space_of_midx(pb->odb, om, &pb->order);
	pb->space.base = pb->base ? &pb->base->space : NULL;
	if (om->midx.nr > PACK_REV_SMALL_NR)
		ret = pack_midx_order_init_unproven(&pb->order, &om->midx,
						    &why);
	/*
	 * If the order could be read from the chunks BTMP and RIDX, use it
	 * without verification. If BTMP is damaged, read the order from RIDX
	 * alone, and verify it.
	 */
	if (ret == ERR_NOMEM)
		return error_nomem(err);
	if (!ret)
		return 0;
	ret = 0;
	pb->order_is_proven = true;
	if (!om->midx.order) {
		path = odb_midx_part_path(om, "rev");
		ret = path ? sys_map_open(&pb->rev_map, path, &why)
			   : error_nomem(err);
		free(path);
		if (ret < 0 && ret != ERR_MISSING)
			return ret == ERR_NOMEM
				       ? ret
				       : error_set(err, ret, "%s", why.msg);
	}
	ret = pack_midx_order_init(&pb->order, &om->midx, pb->rev_map.data,
				   pb->rev_map.len, err);
	/*
	 * ERR_MISSING would mean that there is no bitmap index, but there is
	 * one.
	 */
	if (ret == ERR_MISSING)
		ret = error_set(err, ERR_CORRUPT,
				"%s: multi-pack-index has no reverse index",
				pb->path);
	return ret;
}

static int open_for_midx(struct pack_bitmap *pb, struct odb_midx *om,
			 struct error *err)
{
	int ret;

	pb->path = odb_midx_part_path(om, "bitmap");
	if (!pb->path)
		return error_nomem(err);
	ret = load_file(pb, odb_midx_nr(om), om->midx.checksum,
			"multi-pack-index", err);
	return ret < 0 ? ret : take_midx_order(pb, om, err);
}

/*
 * Opens the bitmap index of `pack`, or of `om` if `pack` is NULL. In a chain,
 * `base` is the index of the layers below. If 1 is returned, *out owns `base`;
 * otherwise the caller keeps it.
 */
static int open_index(struct pack_bitmap **out, const struct odb *odb,
		      const struct odb_pack *pack, struct odb_midx *om,
		      struct pack_bitmap *base, struct error *err)
{
	struct pack_bitmap *pb = mem_calloc(1, sizeof(*pb));
	int ret;

	*out = NULL;
	if (!pb)
		return error_nomem(err);
	pb->odb = odb;
	pb->base = base;
	ret = pack ? open_for_pack(pb, pack, err) : open_for_midx(pb, om, err);
	if (!ret) {
		*out = pb;
		return 1;
	}
	pb->base = NULL;
	pack_bitmap_close(pb);
	if (ret != ERR_MISSING)
		return ret;
	if (err)
		/*
		 * Most packs have no bitmap index, so a missing index is not
		 * reported.
		 */
		err->code = 0;
	return 0;
}

int pack_bitmap_open_pack(struct pack_bitmap **out, const struct odb *odb,
			  const struct odb_pack *pack, struct error *err)
{
	return open_index(out, odb, pack, NULL, NULL, err);
}

int pack_bitmap_open_midx(struct pack_bitmap **out, const struct odb *odb,
			  size_t dir_nr, struct error *err)
{
	size_t layer_nr = odb_midx_layer_nr(odb->midxes[dir_nr]);
	struct pack_bitmap *top = NULL, *pb;
	int ret = 1;

	*out = NULL;
	for (size_t i = layer_nr; i && ret > 0; i--) {
		struct odb_midx *om = odb->midxes[dir_nr];

		for (size_t above = i; above > 1; above--)
			om = om->base;
		ret = open_index(&pb, odb, NULL, om, top, err);
		if (ret > 0)
			top = pb;
	}
	if (ret < 0)
		pack_bitmap_close(top);
	else
		*out = top;
	return ret < 0 ? ret : top != NULL;
}

int pack_bitmap_open_next(struct pack_bitmap **out, const struct odb *odb,
			  size_t *next, struct error *err)
{
	int ret = 0;

	*out = NULL;
	while (!ret && *next < odb->dir_nr + odb->pack_nr) {
		size_t i = (*next)++;

		ret = i < odb->dir_nr
			      ? pack_bitmap_open_midx(out, odb, i, err)
			      : pack_bitmap_open_pack(
					out, odb, &odb->packs[i - odb->dir_nr],
					err);
	}
	return ret;
}

int pack_bitmap_open(struct pack_bitmap **out, const struct odb *odb,
		     struct error *err)
{
	struct error passed_over = ERROR_INIT;
	struct pack_bitmap *empty = NULL;
	size_t next = 0;
	int ret;

	for (;;) {
		ret = pack_bitmap_open_next(out, odb, &next, err);
		if (ret > 0 && !(*out)->file.row_nr) {
			pack_bitmap_close(empty);
			empty = *out;
			continue;
		}
		if (ret >= 0 || ret == ERR_NOMEM || next > odb->dir_nr)
			break;
		if (err && !passed_over.code)
			passed_over = *err;
	}
	/*
	 * No usable index has bitmaps of commits. So return an index without
	 * them; its type bitmaps and name hashes are still useful.
	 */
	if (!ret && empty) {
		*out = empty;
		empty = NULL;
		ret = 1;
	}
	pack_bitmap_close(empty);
	if (ret >= 0 && err)
		*err = passed_over;
	return !ret && passed_over.code ? passed_over.code : ret;
}

void pack_bitmap_close(struct pack_bitmap *pb)
{
	while (pb) {
		struct pack_bitmap *base = pb->base;

		bitmap_file_release(&pb->file);
		pack_midx_order_release(&pb->order);
		sys_map_close(&pb->map);
		sys_map_close(&pb->rev_map);
		free(pb->path);
		free(pb);
		pb = base;
	}
}

uint32_t pack_bitmap_idx_pos(const struct pack_bitmap *pb, uint32_t bit_pos)
{
	return bitmap_space_idx_pos(&pb->space, bit_pos);
}

int pack_bitmap_odb_pos(uint32_t *odb_pos, const struct pack_bitmap *pb,
			uint32_t bit_pos, struct error *err)
{
	return bitmap_space_obj_of_bit(odb_pos, &pb->space, bit_pos, err);
}

bool pack_bitmap_bit(const struct pack_bitmap *pb, struct walk *w,
		     uint32_t obj_pos, uint32_t *bit_pos)
{
	return bitmap_space_bit(&pb->space, &w->space, obj_pos, bit_pos);
}

enum object_type pack_bitmap_type(const struct pack_bitmap *pb,
				  uint32_t bit_pos)
{
	for (int i = 0; i < BITMAP_TYPE_NR; i++)
		if (bitmap_file_is_type(&pb->file, i, bit_pos))
			return bitmap_object_type(i);
	return OBJ_NONE;
}

int pack_bitmap_type_set(struct bitset *set, const struct pack_bitmap *pb,
			 enum bitmap_type type)
{
	if (bitset_init(set, pb->file.object_nr) < 0)
		return ERR_NOMEM;
	bitmap_file_or_type(set, &pb->file, type);
	return 0;
}

void pack_bitmap_count(uint64_t counts[BITMAP_TYPE_NR],
		       const struct pack_bitmap *pb,
		       const struct pack_bitmap_result *result)
{
	for (int i = 0; i < BITMAP_TYPE_NR; i++) {
		counts[i] = bitmap_file_count_type_in(&pb->file, i,
						      &result->packed);
		for (size_t k = 0; k < result->others.nr; k++)
			counts[i] += result->others.items[k].type ==
				     bitmap_object_type(i);
	}
}

static int each_packed(const struct pack_bitmap *pb,
		       const struct pack_bitmap_result *result,
		       enum bitmap_type type,
		       int (*fn)(void *ctx, uint32_t obj_pos,
				 enum object_type type),
		       void *ctx, struct error *err)
{
	struct bitset set = BITSET_INIT;
	int ret = pack_bitmap_type_set(&set, pb, type);

	if (ret < 0)
		return error_nomem(err);
	bitset_and(&set, &result->packed);
	for (size_t bit = bitset_next(&set, 0); bit < set.bits && !ret;
	     bit = bitset_next(&set, bit + 1)) {
		uint32_t odb_pos;

		ret = pack_bitmap_odb_pos(&odb_pos, pb, (uint32_t)bit, err);
		if (!ret)
			ret = fn(ctx, odb_pos, bitmap_object_type(type));
	}
	bitset_release(&set);
	return ret;
}

int pack_bitmap_each(const struct pack_bitmap *pb,
		     const struct pack_bitmap_result *result,
		     int (*fn)(void *ctx, uint32_t obj_pos,
			       enum object_type type),
		     void *ctx, struct error *err)
{
	/*
	 * If many objects are looked up, one pass over the index is cheaper
	 * than a search for each object.
	 */
	if (bitset_count(&result->packed) > pb->file.object_nr / 16)
		bitmap_space_prepare(&pb->space);
	for (int i = 0; i < BITMAP_TYPE_NR; i++) {
		int ret = each_packed(pb, result, i, fn, ctx, err);

		for (size_t k = 0; k < result->others.nr && !ret; k++)
			if (result->others.items[k].type ==
			    bitmap_object_type(i))
				ret = fn(ctx, result->others.items[k].obj_pos,
					 bitmap_object_type(i));
		if (ret)
			return ret;
	}
	return 0;
}

struct testing {
	const struct pack_bitmap *pb;
	struct bitmap_space space;
	struct walk *w;
	struct error *err;
};

static int test_pseudo(void *ctx, uint32_t nr)
{
	struct testing *t = ctx;

	return bitmap_verify_pseudo(&t->pb->file, t->space, t->w, nr, t->err);
}

int pack_bitmap_test(const struct pack_bitmap *pb, struct walk *w,
		     uint32_t commit_nr, struct error *err)
{
	struct testing t = {pb, pb->space, w, err};
	const struct pseudo_merges *pm = &pb->file.pseudo;
	uint32_t obj_pos = w->history.commits[commit_nr].obj_pos;
	uint32_t idx_pos, bit, row;
	int ret = pseudo_merges_verify(pm, err);

	assert(!w->shallow.nr && !w->odb->replaced);
	if (!ret && bitmap_space_bit(&t.space, &w->space, obj_pos, &bit))
		ret = pseudo_merges_each_of(pm, bit, test_pseudo, &t, err);
	if (ret < 0)
		return ret;
	if (!bitmap_space_idx(&t.space, &w->space, obj_pos, &idx_pos) ||
	    !bitmap_file_find(&pb->file, idx_pos, &row))
		return 0;
	ret = bitmap_verify_row(&pb->file, t.space, w, row, err);
	return ret < 0 ? ret : 1;
}

int pack_bitmap_verify(const struct pack_bitmap *pb, struct walk *w,
		       const struct pack_bitmap_verify *how, struct error *err)
{
	struct bitmap_space space = pb->space;
	int ret = pack_bitmap_prove(pb, err);

	if (!ret)
		ret = bitmap_verify_types(&pb->file, space, err);
	if (ret < 0)
		return ret;
	if (how->sample)
		return bitmap_verify_sample(&pb->file, space, w, how->sample,
					    how->seed, err);
	return bitmap_verify_all(&pb->file, space, w, how->progress, err);
}
