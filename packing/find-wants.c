/* SPDX-License-Identifier: MIT */
/*
 * Finds the types of the wants of a client without haves, if the wants are
 * many. The bitmap index knows which wants are commits and which are tags, so
 * that no want is read from the pack.
 *
 * If the wants include all tags of the index, as in a request for all refs, no
 * tag is read either. The target of a tag is then taken from the peeled value
 * of its ref. If the tag points to another tag, this value is the object at the
 * end of the chain of tags. The tags in between are not found in this way, but
 * this loses nothing: they are tags of the index, so they are wants themselves.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "object/oidmap.h"
#include "packing/find-parts.h"

/* A wanted tag that is in the index. */
struct wanted_tag {
	struct oid tag, target;
	uint32_t obj_pos;
	/* whether `target` is known */
	bool has_target;
};

struct wanting {
	struct found *f;
	struct walk_tips *tips;
	struct error *err;
	struct bitset commits; /* indexed by bit_pos */
	/* indexed by bit_pos: tags in the bitmap index that are not wanted */
	struct bitset unwanted;
	struct wanted_tag *tags; /* owned */
	size_t tag_nr, tag_alloc;
	/* maps the id of a wanted tag to its index in `tags` */
	struct oidmap by_id;
};

/*
 * Find the bit and the obj_pos of an object in the bitmap index. Returns false
 * if the index does not have the object.
 */
static bool find_indexed(const struct wanting *w, const struct oid *oid,
			 uint32_t *bit, uint32_t *obj_pos)
{
	const struct bitmap_space *space = &w->f->pb->space;
	uint32_t idx_pos;

	if (!bitmap_space_find(space, oid->bytes, &idx_pos) ||
	    !bitmap_space_bit_of(space, idx_pos, bit))
		return false;
	/*
	 * If there are several packs, look up the object: the bitmap index may
	 * refer to a different copy than normal look-up.
	 */
	if (w->f->walk.odb->pack_nr == 1)
		return bitmap_space_obj(space, idx_pos, obj_pos);
	return objspace_find(&w->f->walk.space, oid->bytes, obj_pos);
}

static int add_read(struct wanting *w, const struct oid *oid)
{
	return walk_add_tip_unread(&w->f->walk, w->tips, oid, w->err);
}

static int list_tag(struct wanting *w, const struct oid *oid, uint32_t obj_pos)
{
	if (mem_grow(&w->tags, &w->tag_alloc, w->tag_nr + 1, sizeof(*w->tags)) <
		    0 ||
	    oidmap_put(&w->by_id, oid, (uint32_t)w->tag_nr) < 0)
		return error_nomem(w->err);
	w->tags[w->tag_nr++] = (struct wanted_tag){.tag = *oid,
						   .obj_pos = obj_pos};
	return 0;
}

static int add_want(struct wanting *w, const struct oid *oid)
{
	uint32_t bit, obj_pos;

	if (!find_indexed(w, oid, &bit, &obj_pos))
		return add_read(w, oid);
	if (bitset_test(&w->commits, bit))
		return walk_add_commit_unread(&w->f->walk, w->tips, obj_pos,
					      w->err);
	if (!bitset_test(&w->unwanted, bit))
		return add_read(w, oid);
	bitset_unset(&w->unwanted, bit);
	return list_tag(w, oid, obj_pos);
}

static int take_target(void *ctx, const struct packing_tag *tag)
{
	struct wanting *w = ctx;
	uint32_t nr;

	if (oidmap_get(&w->by_id, &tag->tag, &nr)) {
		w->tags[nr].target = tag->target;
		w->tags[nr].has_target = true;
	}
	return 0;
}

/*
 * Add a tag as a tip. If its target is a commit in the bitmap index, add the
 * target too, without reading the tag. Otherwise read the tag. Returns 0 or a
 * negative error code.
 */
static int add_tag(struct wanting *w, const struct wanted_tag *t)
{
	uint32_t bit, obj_pos;

	if (!t->has_target || !find_indexed(w, &t->target, &bit, &obj_pos) ||
	    !bitset_test(&w->commits, bit))
		return add_read(w, &t->tag);
	if (walk_items_append(&w->tips->others, t->obj_pos, OBJ_TAG, 0) < 0)
		return error_nomem(w->err);
	return walk_add_commit_unread(&w->f->walk, w->tips, obj_pos, w->err);
}

static int add_tags(struct wanting *w)
{
	const struct packing_tags *tags = &w->f->request->tags;
	int ret = 0;

	if (w->tag_nr && tags->each && bitset_is_empty(&w->unwanted))
		ret = tags->each(tags->ctx, take_target, w, w->err);
	for (size_t i = 0; i < w->tag_nr && !ret; i++)
		ret = add_tag(w, &w->tags[i]);
	return ret;
}

int find_wants(struct found *f, struct walk_tips *tips, struct error *err)
{
	const struct packing_request *r = f->request;
	struct wanting w = {.f = f, .tips = tips, .err = err};
	int ret = 0;

	if (pack_bitmap_type_set(&w.commits, f->pb, BITMAP_COMMITS) < 0 ||
	    pack_bitmap_type_set(&w.unwanted, f->pb, BITMAP_TAGS) < 0)
		ret = error_nomem(err);
	for (size_t i = 0; i < r->want_nr && !ret; i++)
		ret = add_want(&w, &r->wants[i]);
	if (!ret)
		ret = add_tags(&w);
	bitset_release(&w.commits);
	bitset_release(&w.unwanted);
	oidmap_release(&w.by_id);
	free(w.tags);
	return ret;
}
