/* SPDX-License-Identifier: MIT */
/*
 * Chooses the objects that get whole copies, and makes the copies: see
 * keep_copies_make(). A whole copy is an object that the file of kept deltas
 * stores complete, not as a delta (prepared/kept-deltas.h).
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "pack/entry.h"
#include "pack/inflate.h"
#include "packs/keep-deltas.h"
#include "trees/tree-closure.h"
#include "walk/ref-tips.h"

/* ---- tips */

/* The newest tags: a list that is sorted by age. */
struct newest {
	struct walk *w;
	struct walk_tips tips;
	struct error *err;
};

static int add_tag(void *ctx, const struct ref *ref)
{
	struct newest *n = ctx;
	bool is_peeled = ref->has_peeled && ref->is_tag;

	return walk_add_tip(n->w, &n->tips,
			    is_peeled ? &ref->peeled : &ref->oid, true, n->err);
}

static int sort_newest(struct sort_item *order, const struct walk *w,
		       const struct walk_tips *tips)
{
	const struct history *h = &w->history;

	for (size_t i = 0; i < tips->commit_nr; i++)
		order[i] = (struct sort_item){
			UINT64_MAX - h->commits[tips->commits[i]].date,
			tips->commits[i],
		};
	return sort_items(order, tips->commit_nr);
}

/*
 * Keep only the newest `max` commits of the list, sorted newest first. Returns
 * 0 or ERR_NOMEM.
 */
static int keep_newest(struct walk_tips *tips, const struct walk *w, size_t max)
{
	struct sort_item *order = mem_alloc(tips->commit_nr, sizeof(*order));
	int ret = order ? sort_newest(order, w, tips) : ERR_NOMEM;

	if (tips->commit_nr > max)
		tips->commit_nr = max;
	for (size_t i = 0; i < tips->commit_nr && !ret; i++)
		tips->commits[i] = order[i].value;
	free(order);
	return ret;
}

static bool has_tree(const struct keep_tips *tips, const struct oid *tree)
{
	for (size_t i = 0; i < tips->nr; i++)
		if (oid_equal(&tips->trees[i], tree))
			return true;
	return false;
}

static int list_trees(struct keep_tips *tips, struct newest *n)
{
	int ret = 0;

	for (size_t i = 0; i < n->tips.commit_nr && !ret; i++) {
		uint32_t tree_pos;
		struct oid tree;

		ret = history_tree(&n->w->history, n->tips.commits[i],
				   &tree_pos, n->err);
		if (ret < 0)
			break;
		objspace_oid(&tree, &n->w->space, tree_pos);
		if (!has_tree(tips, &tree))
			tips->trees[tips->nr++] = tree;
	}
	return ret;
}

int keep_tips_find(struct keep_tips *tips, struct walk *w, struct refs *refs,
		   struct error *err)
{
	struct newest n = {.w = w, .tips = WALK_TIPS_INIT, .err = err};
	int ret = refs_each(refs, "refs/tags/", add_tag, &n, NULL, err);

	tips->nr = 0;
	if (!ret && keep_newest(&n.tips, w, KEEP_TAGS_MAX) < 0)
		ret = error_nomem(err);
	if (!ret)
		ret = ref_tips_add(w, &n.tips, refs, "refs/heads/", err);
	if (!ret && keep_newest(&n.tips, w, KEEP_TIPS_MAX) < 0)
		ret = error_nomem(err);
	if (!ret)
		ret = list_trees(tips, &n);
	walk_tips_release(&n.tips);
	return ret;
}

/* ---- copies */

/*
 * Cost of finding an object in the tree of a tip: as much as deflating this
 * number of bytes.
 */
#define FIND_COST 28

/*
 * Cost of trying to make a whole copy of an object: as much as deflating this
 * number of bytes.
 */
#define TRY_COST 2048

/*
 * A repack may always spend some time on new whole copies: as much as deflating
 * this number of bytes takes. This holds even if reading the trees of the tips
 * has already used up the maximum cost. (A whole copy is a complete object in
 * the file of kept deltas.)
 */
#define NEW_COST_MIN ((uint64_t)32 << 10)

struct copying {
	const struct keep_copies_options *o;
	struct walk *w;
	/* indexed by obj_pos: the objects of the tip that is handled now */
	struct bitset in_tip;
	/*
	 * indexed by obj_pos: objects that already have a whole copy in the new
	 * file of kept deltas
	 */
	struct bitset done;
	uint64_t len;
	/*
	 * cost so far of reading the trees; the unit is the cost of deflating a
	 * byte
	 */
	uint64_t tip_cost;
	/*
	 * cost so far of making new copies; the unit is the cost of deflating a
	 * byte
	 */
	uint64_t new_cost;
	/* number of new copies */
	uint32_t new_nr;
	/*
	 * true: new copies have cost so much that no further new copy is tried
	 */
	bool is_dear;
	/* true: a copy did not fit into max_len, so no further copy is added */
	bool is_full;
	/*
	 * number of copies that the old file of kept deltas has and that the
	 * new file does not have yet
	 */
	uint32_t old_nr;
	struct deflater *deflater; /* owned */
	struct buf stream;
};

/*
 * Set *base_pos to the obj_pos of the base of a delta. The delta is at `off`
 * in the new pack, and `entry` is its header. Returns false if the entry is
 * not a delta, or if its base cannot be found.
 */
static bool find_base(uint32_t *base_pos, const struct copying *c, uint64_t off,
		      const struct pack_entry *entry)
{
	const struct odb_pack *pack = c->o->pack;
	uint32_t idx_pos;

	if (pack_entry_base_pos(&idx_pos, pack->pack, off, entry, NULL) <= 0)
		return false;
	*base_pos = pack->first_pos + idx_pos;
	return true;
}

/*
 * Returns whether an object still needs a whole copy. A whole copy is a
 * complete object, not a delta, in the file of kept deltas. The object is in
 * the tree of the tip that is handled now (c->in_tip). The object needs a copy
 * if the pack stores it as a delta and this tree does not have the base of the
 * delta. A clone of depth 1 of the tip gets only this tree, so it cannot use
 * the delta. Sets *off to the object's offset in the pack.
 */
static bool is_orphan(const struct copying *c, uint32_t obj_pos, uint64_t *off)
{
	const struct odb_pack *pack = c->o->pack;
	uint32_t idx_pos = obj_pos - pack->first_pos, base_pos;
	struct pack_entry entry;

	if (idx_pos >= pack->pack->idx.nr || bitset_get(&c->done, obj_pos))
		return false;
	*off = pack_idx_offset(&pack->pack->idx, idx_pos);
	return !pack_entry_at(&entry, pack->pack, *off, NULL) &&
	       (entry.type == OBJ_OFS_DELTA || entry.type == OBJ_REF_DELTA) &&
	       find_base(&base_pos, c, *off, &entry) &&
	       !bitset_get(&c->in_tip, base_pos);
}

static int add(struct copying *c, uint32_t obj_pos,
	       const struct kept_delta *copy, uint8_t *made)
{
	int ret;

	if (c->len + keep_row_len(c->w->space.odb->algo) + copy->len >
	    c->o->max_len) {
		c->is_full = true;
		free(made);
		return 0;
	}
	ret = c->o->add(c->o->ctx, copy, made);
	if (ret < 0) {
		free(made);
		return ret;
	}
	c->len += keep_row_len(c->w->space.odb->algo) + copy->len;
	bitset_set(&c->done, obj_pos);
	return 0;
}

static int deflate(struct copying *c, uint32_t obj_pos,
		   const struct odb_object *obj)
{
	struct kept_delta copy = {.size = (uint32_t)obj->len};
	uint8_t *made;

	buf_reset(&c->stream);
	if (deflater_append(c->deflater, &c->stream, obj->data, obj->len) < 0)
		return ERR_NOMEM;
	if (c->stream.len > UINT32_MAX)
		return 0;
	made = mem_alloc(c->stream.len, 1);
	if (!made)
		return ERR_NOMEM;
	memcpy(made, c->stream.data, c->stream.len);
	objspace_oid(&copy.target, &c->w->space, obj_pos);
	copy.stream = made;
	copy.len = (uint32_t)c->stream.len;
	return add(c, obj_pos, &copy, made);
}

static uint64_t max_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * Returns the maximum cost of making new whole copies. A whole copy is an
 * object that the file of kept deltas has complete, not as a delta. It is new
 * if no earlier file has it, so that the object must be read and deflated. The
 * maximum is cost_max minus the cost of the trees that were read so far, but at
 * least NEW_COST_MIN.
 */
static uint64_t new_cost_max(const struct copying *c)
{
	uint64_t max = max_of(c->o->cost_max, c->tip_cost);

	return max_of(max - c->tip_cost, NEW_COST_MIN);
}

/*
 * Make a whole copy of an object: read the object and deflate it. Does nothing
 * if this would exceed the maximum cost of new copies. Returns 0 or ERR_NOMEM.
 */
static int make_new(struct copying *c, uint32_t obj_pos)
{
	struct odb_object obj = ODB_OBJECT_INIT;
	struct walk *w = c->w;
	uint64_t size;
	int ret = objspace_info(&w->space, w->reader, obj_pos, NULL, &size,
				NULL);

	c->new_cost += TRY_COST;
	if (ret < 0 || size > UINT32_MAX ||
	    size > max_of(c->o->cost_max, NEW_COST_MIN))
		return ret == ERR_NOMEM ? ret : 0;
	/*
	 * Make the first copy in any case, so that each repack makes at least
	 * one.
	 */
	if (c->new_nr && c->new_cost + size > new_cost_max(c)) {
		/*
		 * Skip only this object: a smaller object may still be
		 * affordable. Try no further copy if even a copy of an empty
		 * object would exceed the maximum.
		 */
		c->is_dear = c->new_cost + TRY_COST > new_cost_max(c);
		return 0;
	}
	ret = objspace_read(&w->space, w->reader, obj_pos, &obj, NULL);
	if (ret < 0)
		return ret == ERR_NOMEM ? ret : 0;
	c->new_cost += size;
	c->new_nr++;
	ret = deflate(c, obj_pos, &obj);
	odb_object_release(w->reader, &obj);
	return ret;
}

/*
 * Returns whether *copy, a whole copy of an object in the old file of kept
 * deltas, is as long as the object. A copy of another length is damaged and is
 * not used.
 */
static bool is_sound(const struct copying *c, uint32_t obj_pos,
		     const struct kept_delta *copy)
{
	uint64_t size;

	return !objspace_info(&c->w->space, c->w->reader, obj_pos, NULL, &size,
			      NULL) &&
	       size == copy->size;
}

static int copy_object(struct copying *c, uint32_t obj_pos)
{
	const uint8_t *id = objspace_raw(&c->w->space, obj_pos);
	struct kept_delta copy;
	uint32_t row;

	if (kept_deltas_get_copy(&copy, c->o->old, id, &row, NULL) > 0 &&
	    is_sound(c, obj_pos, &copy)) {
		c->old_nr--;
		return add(c, obj_pos, &copy, NULL);
	}
	return c->is_dear ? 0 : make_new(c, obj_pos);
}

/*
 * List the *orphans* of a tip's tree that still need a whole copy. An orphan is
 * an object that the pack stores as a delta, and the base of the delta is not
 * in the tree (is_orphan()). A whole copy is the complete object, which is
 * stored in the file of kept deltas. The orphans are sorted by offset in the
 * pack, so that reading them is fast. Returns 0 or ERR_NOMEM.
 */
static int list_orphans(struct sort_item *orphans, size_t *nr,
			const struct copying *c, const struct walk_items *found)
{
	*nr = 0;
	for (size_t i = 0; i < found->nr; i++) {
		uint32_t obj_pos = found->items[i].obj_pos;
		uint64_t off;

		if (is_orphan(c, obj_pos, &off))
			orphans[(*nr)++] = (struct sort_item){off, obj_pos};
	}
	return sort_items(orphans, *nr);
}

static int copy_orphans(struct copying *c, const struct walk_items *found)
{
	struct sort_item *orphans = mem_alloc(found->nr, sizeof(*orphans));
	size_t nr = 0;
	int ret = orphans ? list_orphans(orphans, &nr, c, found) : ERR_NOMEM;

	for (size_t i = 0; i < nr && !ret && !c->is_full; i++)
		ret = copy_object(c, orphans[i].value);
	free(orphans);
	return ret;
}

static int copy_tip(struct copying *c, const struct oid *tree)
{
	const struct tree_closure_options options = {.threads = 1};
	struct walk_items found = {0};
	uint32_t tree_pos;
	int ret;

	bitset_clear(&c->in_tip);
	if (!objspace_find_packed(&c->w->space, tree->bytes, &tree_pos))
		return 0;
	ret = tree_closure_find(&found, &c->in_tip, &c->w->space, &tree_pos, 1,
				&options, NULL);
	c->tip_cost += FIND_COST * (uint64_t)found.nr;
	if (!ret)
		ret = copy_orphans(c, &found);
	free(found.items);
	return ret == ERR_NOMEM ? ret : 0;
}

static uint32_t count_copies(const struct kept_deltas *old)
{
	uint32_t nr = 0;

	for (uint32_t row = 0; row < old->nr; row++)
		nr += kept_deltas_row_is_copy(old, row);
	return nr;
}

/*
 * Returns whether the remaining tips are skipped, because one of these limits
 * is reached:
 * - The new file of kept deltas has no room for a further copy.
 * - New copies have cost too much, and the new file has all copies of the old
 *   file already.
 * - Reading the trees has cost too much.
 */
static bool is_done(const struct copying *c)
{
	return c->is_full || (c->is_dear && !c->old_nr) ||
	       c->tip_cost / 2 > max_of(c->o->cost_max, NEW_COST_MIN);
}

int keep_copies_make(const struct keep_copies_options *options, struct walk *w)
{
	struct copying c = {
		.o = options,
		.w = w,
		.old_nr = count_copies(options->old),
		.stream = BUF_INIT,
	};
	size_t bits = w->space.packed_nr;
	int ret = 0;

	c.deflater = deflater_new(-1);
	if (!c.deflater || bitset_init(&c.in_tip, bits) < 0 ||
	    bitset_init(&c.done, bits) < 0)
		ret = ERR_NOMEM;
	for (size_t i = 0; i < options->tips->nr && !ret && !is_done(&c); i++)
		ret = copy_tip(&c, &options->tips->trees[i]);
	bitset_release(&c.in_tip);
	bitset_release(&c.done);
	deflater_free(c.deflater);
	buf_release(&c.stream);
	return ret;
}
