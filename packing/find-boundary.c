/* SPDX-License-Identifier: MIT */
/*
 * Collects objects that the receiver has: those in the trees of boundary
 * commits.
 */
#include "base/mem.h"
#include "packing/find-parts.h"
#include "trees/treewalk.h"

/* Maximum number of boundary commits whose trees are read. */
#define MAX_BOUNDARY 256

int find_boundary_add(struct found *f, const uint32_t *commits, size_t nr)
{
	if (!f->boundary)
		f->boundary = mem_alloc(MAX_BOUNDARY, sizeof(*f->boundary));
	if (!f->boundary)
		return ERR_NOMEM;
	for (size_t i = 0; i < nr && f->boundary_nr < MAX_BOUNDARY; i++)
		f->boundary[f->boundary_nr++] = commits[i];
	return 0;
}

bool find_has_entries(const struct found *f, enum object_type type)
{
	return filter_is_empty(f->request->filter) ||
	       filter_takes_all(f->request->filter, type);
}

/*
 * Decides which boundary trees (trees of boundary commits, which the receiver
 * has) are read. The objects in these trees can be delta bases, and need not be
 * sent. Most boundary trees are unchanged in the wanted commits. Reading such a
 * tree would not help, because it is not sent. A boundary tree is read only if
 * one of these holds:
 * - A tree is sent at its path.
 * - The tree itself is in the list of objects to send, although the receiver
 *   has it. For example, a wanted commit has added the tree at another path.
 *   The objects in the tree may then be in the list, too. Reading the tree
 *   shows that the receiver has them, and they are removed from the list.
 * - The newest wanted commits have no directory at its path: files may have
 *   moved out of it.
 */
struct collecting {
	struct found *f;
	/* whether all boundary trees are read */
	bool all;
	/* indexed by path_bit(): the paths at which trees are sent */
	struct bitset paths;
	/*
	 * Indexed by path_bit(): paths at which the newest wanted commits have
	 * a directory. note_kept() sets these bits, in a walk of the trees of
	 * these commits. The walk does not enter a directory if no tree is sent
	 * at its path (`paths`). So paths below such a directory are missing
	 * here.
	 */
	struct bitset kept;
	struct bitset sent; /* indexed by obj_pos */
};

/*
 * Paths are hashed to this number of bits. If two paths have equal hashes, they
 * are taken for the same path. This only changes which trees are read as a
 * source of delta bases.
 */
#define PATH_BITS 18

static uint32_t path_bit(uint32_t name_hash)
{
	return name_hash * UINT32_C(0x9e3779b1) >> (32 - PATH_BITS);
}

static int note_sent(struct collecting *c)
{
	const struct found *f = c->f;

	if (bitset_init(&c->paths, (size_t)1 << PATH_BITS) < 0 ||
	    bitset_init(&c->kept, (size_t)1 << PATH_BITS) < 0 ||
	    bitset_init(&c->sent, objspace_end(&c->f->walk.space)) < 0)
		return ERR_NOMEM;
	for (size_t i = 0; i < f->objects.nr; i++) {
		const struct walk_item *item = &f->objects.items[i];

		if (item->type != OBJ_TREE)
			continue;
		bitset_set(&c->paths, path_bit(item->name_hash));
		bitset_set(&c->sent, item->obj_pos);
	}
	return 0;
}

static void collecting_release(struct collecting *c)
{
	bitset_release(&c->paths);
	bitset_release(&c->kept);
	bitset_release(&c->sent);
}

static bool is_entered(const struct collecting *c, uint32_t obj_pos,
		       uint32_t name_hash)
{
	uint32_t bit = path_bit(name_hash);

	return c->all || bitset_test(&c->paths, bit) ||
	       !bitset_test(&c->kept, bit) || bitset_get(&c->sent, obj_pos);
}

/*
 * Callback of a walk over the trees of the newest wanted commits. Records in
 * c->kept that these commits have a directory at the path `path`. Returns 0 if
 * a tree that is sent has the same path: the walk then goes on to the entries
 * of the directory. Returns 1 if not: the walk then skips these entries.
 */
static int note_kept(void *ctx, uint32_t obj_pos, enum object_type type,
		     const char *path, size_t path_len, struct error *err)
{
	struct collecting *c = ctx;
	uint32_t bit = path_bit(name_hash_add(0, path, path_len));

	if (type != OBJ_TREE)
		return 0;
	bitset_set(&c->kept, bit);
	return !bitset_test(&c->paths, bit);
}

static int collect_boundary_object(void *ctx, uint32_t obj_pos,
				   enum object_type type, const char *path,
				   size_t path_len, struct error *err)
{
	const struct collecting *c = ctx;
	struct found *f = c->f;
	const struct walk_item item = {
		.obj_pos = obj_pos,
		.name_hash = name_hash_add(0, path, path_len),
		.group = path_group_path(f->grouping, path, path_len),
		.type = (uint8_t)type,
	};

	if (find_has_entries(f, type) &&
	    walk_items_add(&f->boundary_objects, &item) < 0)
		return error_nomem(err);
	return type == OBJ_TREE && !is_entered(c, obj_pos, item.name_hash);
}

/*
 * Walk the trees of commits. Trees that are missing are skipped. *seen receives
 * the objects that were visited.
 */
static int walk_trees(struct bitset *seen, struct collecting *c, treewalk_fn fn,
		      const uint32_t *commits, size_t nr, struct error *err)
{
	struct walk *w = &c->f->walk;
	struct treewalk tree;
	int ret = 0;

	if (treewalk_init(&tree, &w->space, w->reader) < 0)
		ret = error_nomem(err);
	tree.skips_missing = true;
	for (size_t i = 0; i < nr && !ret; i++) {
		const struct history_commit *commit =
			&w->history.commits[commits[i]];

		if (commit->parsed)
			ret = treewalk_run(&tree, commit->tree_pos, "", fn, c,
					   err);
	}
	*seen = tree.seen;
	tree.seen = (struct bitset)BITSET_INIT;
	treewalk_release(&tree);
	return ret;
}

/*
 * Make *set the set of the parents of `commits`, indexed by commit_nr. Returns
 * 0 or ERR_NOMEM.
 */
static int mark_parents(struct bitset *set, const struct history *h,
			const uint32_t *commits, size_t nr)
{
	if (bitset_init(set, h->nr) < 0)
		return ERR_NOMEM;
	for (size_t i = 0; i < nr; i++) {
		const struct history_commit *c = &h->commits[commits[i]];

		for (uint32_t k = 0; c->parsed && k < c->parent_nr; k++)
			bitset_set(set, history_parents(h, commits[i])[k]);
	}
	return 0;
}

/*
 * Insert a commit into an array of at most `max` commits, sorted by date,
 * newest first. If the array is full, the oldest commit is dropped.
 */
static void insert_newest(uint32_t *out, size_t *nr, size_t max,
			  const struct history *h, uint32_t c)
{
	size_t at = *nr;

	while (at && h->commits[out[at - 1]].date < h->commits[c].date) {
		if (at < max)
			out[at] = out[at - 1];
		at--;
	}
	if (at < max)
		out[at] = c;
	*nr += *nr < max;
}

int found_newest(uint32_t *out, size_t *out_nr, size_t max,
		 const struct history *h, const uint32_t *commits, size_t nr,
		 struct error *err)
{
	struct bitset parents = BITSET_INIT;

	*out_nr = 0;
	if (mark_parents(&parents, h, commits, nr) < 0)
		return error_nomem(err);
	for (size_t i = 0; i < nr; i++) {
		const struct history_commit *c = &h->commits[commits[i]];

		if (c->parsed &&
		    (!c->parent_nr || !bitset_test(&parents, commits[i])))
			insert_newest(out, out_nr, max, h, commits[i]);
	}
	bitset_release(&parents);
	return 0;
}

/* Collect objects from the trees of boundary commits. */
static int collect(struct collecting *c, const uint32_t *commits, size_t nr,
		   struct error *err)
{
	struct found *f = c->f;
	struct bitset seen;
	int ret = walk_trees(&seen, c, collect_boundary_object, commits, nr,
			     err);

	f->has_boundary = true;
	if (!f->knows_all_uninteresting) {
		/* found_learn_bases() may have added bases before. */
		struct bitset learned = f->uninteresting;

		f->uninteresting = seen;
		seen = learned;
	}
	bitset_release(&seen);
	return ret;
}

int find_boundary_collect(struct found *f, struct error *err)
{
	struct collecting c = {.f = f, .all = true};
	uint32_t few[FOUND_EDGES_MAX];
	size_t max = f->walk.shallow.nr ? FOUND_EDGES_MAX : FOUND_NEWEST_MAX;
	size_t nr;
	int ret;

	if (f->has_boundary || !f->boundary_nr)
		return 0;
	if (!f->pb && !f->knows_all_uninteresting)
		return collect(&c, f->boundary, f->boundary_nr, err);
	ret = found_newest(few, &nr, max, &f->walk.history, f->boundary,
			   f->boundary_nr, err);
	return ret < 0 ? ret : collect(&c, few, nr, err);
}

/*
 * Returns whether the list of objects to send has a tree or blob. Only trees
 * and blobs can be in a boundary tree.
 */
static bool lists_entries(const struct found *f)
{
	for (size_t i = 0; i < f->objects.nr; i++)
		if (f->objects.items[i].type == OBJ_TREE ||
		    f->objects.items[i].type == OBJ_BLOB)
			return true;
	return false;
}

int find_boundary_collect_near(struct found *f, const struct walk_tips *wants,
			       struct error *err)
{
	struct collecting c = {.f = f};
	struct bitset ignored = BITSET_INIT;
	uint32_t newest[FOUND_NEWEST_MAX];
	size_t nr;
	int ret;

	if (!f->boundary_nr || !lists_entries(f))
		return 0;
	if (f->unnamed || !find_has_entries(f, OBJ_TREE))
		return find_boundary_collect(f, err);
	ret = found_newest(newest, &nr, FOUND_NEWEST_MAX, &f->walk.history,
			   wants->commits, wants->commit_nr, err);
	if (!ret && note_sent(&c) < 0)
		ret = error_nomem(err);
	if (!ret)
		ret = walk_trees(&ignored, &c, note_kept, newest, nr, err);
	if (!ret)
		ret = collect(&c, f->boundary, f->boundary_nr, err);
	bitset_release(&ignored);
	collecting_release(&c);
	return ret;
}
