/* SPDX-License-Identifier: MIT */
/*
 * Boundary traversal: reads the trees of the haves. A tree is read only if it
 * may contain undecided objects: objects that the wants reach, and that were
 * not found in the haves yet.
 */
#include <stdbool.h>

#include "bitmap/fill.h"
#include "object/oidmap.h"
#include "object/parse.h"
#include "walk/treewalk.h"

/*
 * After many lookups, a list of the undecided objects' ids is made, because
 * searching the list is ten times faster than searching the bitmap index. With
 * nr undecided objects, nr / LOOKUPS_RATIO lookups come before. If nr exceeds
 * LIST_MAX, no list is made.
 */
#define LOOKUPS_RATIO 4
#define LIST_MAX (1u << 18)

struct settling {
	struct bitset *uninteresting;
	/* indexed by bit_pos: undecided objects */
	struct bitset undecided;
	struct bitmap_fill *fill;
	/* ids of the undecided objects, with their bits */
	struct oidmap list;
	/* whether `list` is complete */
	bool is_listed;
	/* number of lookups before the list is made */
	size_t lookups_left;
	struct error *err;
};

static int list_undecided(struct settling *s)
{
	const struct bitmap_space *space = &s->fill->space;
	enum hash_algo algo = s->fill->w->odb->algo;

	for (size_t bit = bitset_next(&s->undecided, 0);
	     bit < s->undecided.bits;
	     bit = bitset_next(&s->undecided, bit + 1)) {
		uint32_t bit_pos = (uint32_t)bit;
		uint32_t idx_pos = bitmap_space_idx_pos(space, bit_pos);
		struct oid oid;

		oid_from_raw(&oid, bitmap_space_id(space, idx_pos), algo);
		if (oidmap_put(&s->list, &oid, bit_pos) < 0)
			return ERR_NOMEM;
	}
	s->is_listed = true;
	return 0;
}

static int note_undecided(struct settling *s)
{
	size_t nr;

	if (bitset_copy(&s->undecided, &s->fill->packed) < 0)
		return error_nomem(s->err);
	bitset_andnot(&s->undecided, s->uninteresting);
	nr = bitset_count(&s->undecided);
	s->lookups_left = nr > LIST_MAX ? SIZE_MAX : nr / LOOKUPS_RATIO;
	return 0;
}

/*
 * Finds the bit of an object by its id. May return false for an object that is
 * not undecided.
 */
static bool find(struct settling *s, const uint8_t *raw, uint32_t *bit)
{
	const struct bitmap_space *space = &s->fill->space;
	uint32_t idx_pos;
	struct oid oid;

	/* If memory runs out, lookups continue to search the bitmap index. */
	if (!s->is_listed && !s->lookups_left-- && list_undecided(s) < 0)
		oidmap_release(&s->list);
	if (!s->is_listed)
		return bitmap_space_find(space, raw, &idx_pos) &&
		       bitmap_space_bit_of(space, idx_pos, bit);
	oid_from_raw(&oid, raw, s->fill->w->odb->algo);
	return oidmap_get(&s->list, &oid, bit);
}

/*
 * Marks an undecided object as uninteresting. Returns false if the object is
 * not undecided.
 */
static bool settle(struct settling *s, const uint8_t *raw)
{
	uint32_t bit;

	if (!find(s, raw, &bit) || !bitset_test(&s->undecided, bit))
		return false;
	bitset_unset(&s->undecided, bit);
	bitset_set(s->uninteresting, bit);
	return true;
}

static int settle_tree(struct settling *s, uint32_t tree_pos, unsigned depth);

static int settle_entries(struct settling *s, const struct odb_object *tree,
			  unsigned depth)
{
	struct walk *w = s->fill->w;
	struct cursor c = cursor_make(tree->data, tree->len);
	struct tree_entry entry;
	int ret;

	while ((ret = tree_next(&entry, &c, w->odb->algo)) > 0) {
		uint32_t pos;

		if (tree_entry_is_gitlink(&entry) || !settle(s, entry.oid) ||
		    !tree_entry_is_dir(&entry))
			continue;
		if (objspace_add(&w->space, entry.oid, &pos) < 0)
			return error_nomem(s->err);
		ret = settle_tree(s, pos, depth + 1);
		if (ret < 0)
			return ret;
	}
	return ret < 0 ? error_set(s->err, ret, "malformed tree object") : 0;
}

/* Reads a tree that was undecided, and marks the objects in it. */
static int settle_tree(struct settling *s, uint32_t tree_pos, unsigned depth)
{
	struct walk *w = s->fill->w;
	struct odb_object tree = ODB_OBJECT_INIT;
	int ret;

	if (odb_is_too_deep(w->odb, depth))
		return objspace_error(&w->space, tree_pos, ERR_CORRUPT,
				      ODB_TOO_DEEP, s->err);
	ret = objspace_read_tree(&w->space, w->reader, tree_pos, &tree, s->err);
	if (ret < 0)
		return ret;
	ret = settle_entries(s, &tree, depth);
	odb_object_release(w->reader, &tree);
	return ret;
}

static int settle_commit(struct settling *s, uint32_t c)
{
	struct walk *w = s->fill->w;
	uint32_t tree_pos = w->history.commits[c].tree_pos;
	struct oid oid;

	objspace_oid(&oid, &w->space, tree_pos);
	return settle(s, oid.bytes) ? settle_tree(s, tree_pos, 0) : 0;
}

int bitmap_boundary_settle(struct bitset *uninteresting,
			   struct bitmap_fill *fill, const uint32_t *commits,
			   size_t nr, struct error *err)
{
	struct settling s = {
		.uninteresting = uninteresting,
		.undecided = BITSET_INIT,
		.fill = fill,
		.list = OIDMAP_INIT,
		.err = err,
	};
	int ret = nr ? note_undecided(&s) : 0;

	for (size_t i = 0; i < nr && !ret; i++)
		ret = settle_commit(&s, commits[i]);
	bitset_release(&s.undecided);
	oidmap_release(&s.list);
	return ret;
}
