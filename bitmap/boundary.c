/* SPDX-License-Identifier: MIT */
/*
 * Boundary traversal: reads the trees of the haves. A tree is read only if it
 * may contain undecided objects: objects that the wants reach, and that were
 * not found in the haves yet.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bitmap/fill.h"
#include "object/oidmap.h"
#include "object/parse.h"
#include "trees/treewalk.h"

/*
 * An undecided object is one that the wants reach, and that was not found in
 * the haves yet. Looking up an id in a table of these objects is ten times
 * faster than searching the bitmap index, but the table must be made first. For
 * `nr` undecided objects, the table is made after nr / LOOKUPS_RATIO lookups in
 * the index. If `nr` exceeds LIST_MAX, no table is made.
 */
#define LOOKUPS_RATIO 4
#define LIST_MAX (1u << 18)

/*
 * A slot of the table of undecided objects. The slot has no id: the ids are in
 * the bitmap index.
 */
struct slot {
	/* the upper half of the hash of the id */
	uint32_t tag;
	/* 1 plus the bit_pos of the object; 0: the slot is free */
	uint32_t bit;
};

/*
 * A hash table of the undecided objects: objects that the wants reach, and that
 * were not found in the haves yet. Uses linear probing. A slot has only 8
 * bytes. With larger slots, making the table would take longer than all lookups
 * in it.
 */
struct list {
	/*
	 * owned; NULL, or an array whose number of slots is a power of two, at
	 * least twice the number of objects
	 */
	struct slot *slots;
	/* the number of slots less 1 */
	size_t mask;
	struct oidhash hash;
};

struct settling {
	struct bitset *uninteresting;
	/*
	 * indexed by bit_pos: undecided objects, which the wants reach and
	 * which were not found in the haves yet
	 */
	struct bitset undecided;
	struct bitmap_fill *fill;
	/*
	 * hash table of the objects that were undecided when the table was made
	 */
	struct list list;
	/* number of lookups in the index that are left until `list` is made */
	size_t lookups_left;
	struct error *err;
};

/*
 * Returns the slot of an object with the given id and the id's hash. If the
 * table lacks the object, returns the free slot where the object belongs.
 */
static struct slot *find_slot(const struct settling *s, const uint8_t *raw,
			      uint64_t hash)
{
	const struct bitmap_space *space = &s->fill->space;
	size_t id_len = hash_len(s->fill->w->odb->algo);

	for (size_t i = hash & s->list.mask;; i = (i + 1) & s->list.mask) {
		struct slot *slot = &s->list.slots[i];
		uint32_t idx_pos;

		if (!slot->bit)
			return slot;
		if (slot->tag != hash >> 32)
			continue;
		idx_pos = bitmap_space_idx_pos(space, slot->bit - 1);
		if (!memcmp(bitmap_space_id(space, idx_pos), raw, id_len))
			return slot;
	}
}

static uint64_t hash_of(const struct settling *s, const uint8_t *raw)
{
	struct oid oid;

	oid_from_raw(&oid, raw, s->fill->w->odb->algo);
	return oidhash_of(&s->list.hash, &oid);
}

static int list_undecided(struct settling *s)
{
	const struct bitmap_space *space = &s->fill->space;
	size_t nr = bitset_count(&s->undecided), slot_nr = 1;

	while (slot_nr < 2 * nr)
		slot_nr *= 2;
	s->list.slots = mem_calloc(slot_nr, sizeof(*s->list.slots));
	if (!s->list.slots)
		return ERR_NOMEM;
	s->list.mask = slot_nr - 1;
	oidhash_init(&s->list.hash);
	for (size_t bit = bitset_next(&s->undecided, 0);
	     bit < s->undecided.bits;
	     bit = bitset_next(&s->undecided, bit + 1)) {
		uint32_t bit_pos = (uint32_t)bit;
		const uint8_t *raw = bitmap_space_id(
			space, bitmap_space_idx_pos(space, bit_pos));
		uint64_t hash = hash_of(s, raw);

		*find_slot(s, raw, hash) = (struct slot){(uint32_t)(hash >> 32),
							 bit_pos + 1};
	}
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
 * Finds the bit of an object by its id. An undecided object (not yet known to
 * be in the haves) is always found. Other indexed objects are found only until
 * the table of undecided objects is made, because afterwards only the table is
 * searched. Returns false if the object is not found.
 */
static bool find(struct settling *s, const uint8_t *raw, uint32_t *bit)
{
	const struct bitmap_space *space = &s->fill->space;
	uint32_t idx_pos;

	/* If there is no memory for the table, continue to search the index. */
	if (!s->list.slots && !s->lookups_left--)
		list_undecided(s);
	if (!s->list.slots)
		return bitmap_space_find(space, raw, &idx_pos) &&
		       bitmap_space_bit_of(space, idx_pos, bit);
	*bit = find_slot(s, raw, hash_of(s, raw))->bit - 1;
	return *bit != UINT32_MAX;
}

/*
 * If an object was undecided, marks it as uninteresting (the receiver has it)
 * and returns true. For any other object, returns false.
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

/*
 * Reads a tree that settle() has just marked as uninteresting (the receiver has
 * it). Marks the undecided objects in the tree, and below it, as uninteresting
 * too. Returns 0 or a negative error code.
 */
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
		.err = err,
	};
	int ret = nr ? note_undecided(&s) : 0;

	for (size_t i = 0; i < nr && !ret; i++)
		ret = settle_commit(&s, commits[i]);
	bitset_release(&s.undecided);
	free(s.list.slots);
	return ret;
}
