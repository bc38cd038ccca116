/* SPDX-License-Identifier: MIT */
/*
 * Marks objects that the receiver has: older versions of files. Stored deltas
 * against these versions can then be copied.
 *
 * A shallow receiver may lack older versions. So versions are marked only if
 * the receiver itself has said that it is not shallow. For a bundle, or a pack
 * for a push, this is not known.
 *
 * A bitmap query does not find all objects of the receiver. If no bitmap
 * contains a recent commit of the receiver, the query does not always read the
 * trees of this commit. So the query misses versions of files that are only in
 * such commits. Finding all these versions would cost more than most fetches,
 * so only some are found here.
 */
#include "packing/find-parts.h"
#include "trees/treediff.h"

/*
 * Maximum number of parents whose trees are compared with those of their
 * children.
 */
#define OLDER_MAX 8

/*
 * Commits of the receiver (commit_nr). The commits with an index below `next`
 * were compared with their parents.
 */
struct older {
	struct found *f;
	uint32_t commits[OLDER_MAX + FOUND_NEWEST_MAX];
	size_t nr, next;
};

static int mark(void *ctx, uint32_t new_pos, uint32_t old_pos,
		enum object_type type, const char *path, size_t path_len,
		struct error *err)
{
	struct found *f = ctx;
	uint32_t bit;

	if (old_pos >= f->walk.space.packed_nr || !find_has_entries(f, type))
		return 0;
	if (found_bit(f, old_pos, &bit) && bit < f->packed_uninteresting.bits)
		bitset_set(&f->packed_uninteresting, bit);
	if (f->pb)
		return 0;
	odb_find_raw(f->walk.odb, odb_oid_raw(f->walk.odb, old_pos), &old_pos);
	if (old_pos < f->uninteresting.bits)
		bitset_set(&f->uninteresting, old_pos);
	return 0;
}

/*
 * Compare the tree of a commit with the tree of a parent, and mark the parent's
 * objects that differ: older versions. Append the parent to o->commits. If one
 * of the two commits cannot be read, do nothing. Returns 0 or ERR_NOMEM.
 */
static int compare(struct older *o, uint32_t commit_nr, uint32_t parent)
{
	struct found *f = o->f;
	struct history *h = &f->walk.history;
	uint32_t tree, old_tree;
	int ret = history_parse(h, parent, NULL);

	if (!ret && h->commits[parent].missing)
		return 0;
	if (!ret)
		ret = history_tree(h, commit_nr, &tree, NULL);
	if (!ret)
		ret = history_tree(h, parent, &old_tree, NULL);
	if (!ret)
		ret = treepair_run(&f->walk.space, f->walk.reader, tree,
				   old_tree, mark, f, NULL);
	if (!ret)
		o->commits[o->nr++] = parent;
	return ret == ERR_NOMEM ? ret : 0;
}

static bool is_listed(const struct older *o, uint32_t commit_nr)
{
	for (size_t i = 0; i < o->nr; i++)
		if (o->commits[i] == commit_nr)
			return true;
	return false;
}

/*
 * Compare a commit with those of its parents that are not in o->commits yet,
 * and append these parents. Stop when o->commits has OLDER_MAX commits.
 */
static int compare_parents(struct older *o, uint32_t commit_nr)
{
	struct history *h = &o->f->walk.history;
	int ret = 0;

	for (uint32_t i = 0; i < h->commits[commit_nr].parent_nr && !ret; i++) {
		uint32_t parent = history_parents(h, commit_nr)[i];

		if (o->nr < OLDER_MAX && !is_listed(o, parent))
			ret = compare(o, commit_nr, parent);
	}
	return ret;
}

int find_older(struct found *f, const uint32_t *haves, size_t nr)
{
	struct older o = {.f = f};
	int ret = 0;

	if (f->request->shallow_nr || !f->request->knows_shallow)
		return 0;
	for (size_t i = 0; i < nr && i < FOUND_NEWEST_MAX; i++)
		o.commits[o.nr++] = haves[i];
	while (o.next < o.nr && !ret)
		ret = compare_parents(&o, o.commits[o.next++]);
	return ret;
}
