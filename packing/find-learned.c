/* SPDX-License-Identifier: MIT */
/*
 * Finds delta bases that the receiver has, in the bitmap of a wanted commit.
 *
 * A walk for a small fetch reads only the newest trees of the receiver. So the
 * walk does not know older files of the receiver, nor files at other paths. An
 * example is a branch of published pages, where each release adds a directory:
 *
 *	receiver's commit      wanted commit
 *	v1/a, v1/b             v1/a, v1/b, v2/a, v2/b
 *
 * The pack stores v2/a as a delta of a file in an older directory. Without
 * knowing that the receiver has this file, the server would have to deflate
 * v2/a again.
 *
 * After the fetch, the receiver has all objects that the wanted commits reach.
 * So if a wanted commit reaches an object that is not sent, the receiver has
 * this object already. The bitmap of a wanted commit says what it reaches. If
 * there is no such bitmap, the bitmap of an ancestor has most of these objects.
 *
 * A wrong bit would make a delta of an object that the receiver lacks. So the
 * checksums of the index are verified first.
 */

#include "pack-bitmap-answer.h"
#include "packing/find-parts.h"

/*
 * Maximum number of commits that are visited to find a commit with a bitmap,
 * for each of the newest wanted commits.
 */
#define ANCESTORS_MAX 256

/*
 * Returns whether the receiver has everything that its commits reach. This is
 * not so for a shallow or partial clone.
 */
static bool is_complete(const struct packing_request *r)
{
	return r->knows_shallow && !r->shallow_nr && filter_is_empty(r->filter);
}

/*
 * Add to *reached the bitmap of each of the newest wanted commits, or of its
 * nearest ancestor with a bitmap. If a bitmap is damaged, the set may have
 * wrong bits, so it is cleared. Returns 0 or ERR_NOMEM.
 */
static int or_bitmaps(struct bitset *reached, const struct pack_bitmap *pb,
		      struct found *f, struct error *err)
{
	uint32_t newest[FOUND_NEWEST_MAX];
	size_t nr;
	int ret = found_newest(newest, &nr, FOUND_NEWEST_MAX, &f->walk.history,
			       f->wants, f->want_nr, err);

	for (size_t i = 0; i < nr && ret >= 0; i++) {
		ret = pack_bitmap_or_ancestor(reached, pb, &f->walk, newest[i],
					      ANCESTORS_MAX, NULL);
		if (ret == ERR_CORRUPT)
			bitset_clear(reached);
		ret = ret == ERR_NOMEM ? error_nomem(err) : 0;
	}
	return ret;
}

/*
 * Find the base of an item that would be deflated anew although its pack stores
 * it as a delta. Returns false if the item is not of this kind.
 */
static bool find_stored_base(uint32_t *odb_pos, const struct found *f,
			     const struct packing_item *item,
			     const struct packs *packs)
{
	const struct odb_pack *pack;
	struct packs_stored stored;
	uint32_t idx_pos, base_idx_pos;

	if (item->how != PACKING_WHOLE || item->is_external ||
	    item->obj_pos >= f->walk.odb->packed_nr)
		return false;
	pack = odb_locate(f->walk.odb, item->obj_pos, &idx_pos);
	if (packs_stored(&stored, packs, item->pack_nr, idx_pos, NULL) < 0 ||
	    (stored.entry.type != OBJ_OFS_DELTA &&
	     stored.entry.type != OBJ_REF_DELTA) ||
	    packs_base(&base_idx_pos, packs, item->pack_nr, idx_pos, &stored,
		       NULL) <= 0)
		return false;
	*odb_pos = pack->first_pos + base_idx_pos;
	return true;
}

/*
 * Add the bases that are in *reached to found->uninteresting. Returns whether
 * there is one.
 */
static bool mark_bases(struct found *f, const struct packing_items *items,
		       const struct packs *packs, const struct pack_bitmap *pb,
		       const struct bitset *reached)
{
	const struct odb *odb = f->walk.odb;
	bool has_marked = false;

	for (size_t i = 0; i < items->nr; i++) {
		uint32_t pos, bit;

		if (!find_stored_base(&pos, f, &items->items[i], packs) ||
		    !pack_bitmap_bit(pb, &f->walk, pos, &bit) ||
		    !bitset_get(reached, bit))
			continue;
		odb_find_raw(odb, odb_oid_raw(odb, pos), &pos);
		bitset_set(&f->uninteresting, pos);
		has_marked = true;
	}
	return has_marked;
}

static int learn(struct found *f, const struct packing_items *items,
		 const struct packs *packs, const struct pack_bitmap *pb,
		 struct error *err)
{
	struct bitset reached = BITSET_INIT;
	int ret;

	if (bitset_init(&reached, pack_bitmap_object_nr(pb)) < 0 ||
	    bitset_grow(&f->uninteresting, objspace_end(&f->walk.space)) < 0)
		ret = error_nomem(err);
	else
		ret = or_bitmaps(&reached, pb, f, err);
	if (!ret)
		ret = mark_bases(f, items, packs, pb, &reached);
	bitset_release(&reached);
	return ret;
}

/*
 * Returns whether verifying the index costs little compared with deflating
 * `len` bytes. Deflating a byte costs about 20 times as much as hashing it.
 */
static bool is_cheap(const struct pack_bitmap *pb, uint64_t len)
{
	return pb->map.len / 4 <= len;
}

int found_learn_bases(struct found *found, const struct packing_items *items,
		      const struct packs *packs, uint64_t len,
		      struct error *err)
{
	struct pack_bitmap *pb = NULL;
	const char *ignored;
	int ret = 0;

	if (found->pb || !found->request->use_bitmap ||
	    !found->request->have_nr || !is_complete(found->request))
		return 0;
	ret = pack_bitmap_answer_open(&pb, &ignored, &found->walk,
				      found->request->filter, NULL);
	if (ret <= 0)
		return ret == ERR_NOMEM ? error_nomem(err) : 0;
	ret = 0;
	if (is_cheap(pb, len) && !pack_bitmap_prove(pb, NULL))
		ret = learn(found, items, packs, pb, err);
	pack_bitmap_close(pb);
	return ret;
}
