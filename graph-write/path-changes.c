/* SPDX-License-Identifier: MIT */
/*
 * Finds changed paths: compares decoded trees in one pass over their sorted
 * entries.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "graph-write/path-changes.h"
#include "trees/tree-store.h"
#include "trees/treewalk.h"

struct path_changes {
	struct tree_store *store; /* owned */
	/*
	 * the pool with the entries of all trees, borrowed from the tree store
	 */
	struct entry_pool *pool;
	const struct odb *odb; /* borrowed */
	enum hash_algo algo;
	/*
	 * borrowed: the pathspec that chooses the paths to compare; NULL: all
	 * paths
	 */
	const struct pathspec *limits;
	/*
	 * path of the directory that is being compared, with a slash at the end
	 */
	struct buf path;
	/*
	 * `fn`, `ctx` and `err` are arguments of the current call of
	 * path_changes_run()
	 */
	path_change_fn fn;
	void *ctx;
	struct error *err;
};

/* A directory in one of the two trees, and how far it was compared. */
struct side {
	struct tree tree;
	/* index of the next entry of the directory to compare */
	uint32_t at;
};

struct path_changes *path_changes_new(struct objspace *space,
				      size_t cache_limit)
{
	struct path_changes *p = mem_calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->odb = space->odb;
	p->algo = space->odb->algo;
	buf_init(&p->path);
	p->store = tree_store_new(space, cache_limit, false);
	if (!p->store) {
		free(p);
		return NULL;
	}
	p->pool = tree_store_pool(p->store);
	return p;
}

void path_changes_free(struct path_changes *p)
{
	if (!p)
		return;
	tree_store_free(p->store);
	buf_release(&p->path);
	free(p);
}

void path_changes_limit(struct path_changes *p, const struct pathspec *limits)
{
	p->limits = limits;
}

/*
 * The entries (entry_nr) that both trees have at one path. ENTRY_POOL_NONE: the
 * tree has nothing at this path.
 */
struct entry_pair {
	uint32_t new_entry, old_entry;
};

static int diff_trees(struct path_changes *p, uint32_t new_tree,
		      uint32_t old_tree, enum pathspec_below taken,
		      unsigned depth);

static int report_file(struct path_changes *p, const struct entry_pair *pair,
		       bool is_gitlink, enum pathspec_below taken)
{
	enum path_change change = PATH_MODIFIED;

	if (taken != PATHSPEC_ALL &&
	    !pathspec_takes(p->limits, p->path.data, p->path.len, is_gitlink))
		return 0;
	if (pair->new_entry == ENTRY_POOL_NONE)
		change = PATH_REMOVED;
	else if (pair->old_entry == ENTRY_POOL_NONE)
		change = PATH_ADDED;
	return p->fn(p->ctx, p->path.data, p->path.len, change);
}

static int enter_dir(struct path_changes *p, const struct entry_pair *pair,
		     enum pathspec_below taken, unsigned depth)
{
	uint32_t trees[2] = {PATH_CHANGES_NO_TREE, PATH_CHANGES_NO_TREE};

	if (taken != PATHSPEC_ALL) {
		taken = pathspec_below(p->limits, p->path.data, p->path.len);
		if (taken == PATHSPEC_NOTHING)
			return 0;
	}
	if (buf_append_char(&p->path, '/') < 0 ||
	    (pair->new_entry != ENTRY_POOL_NONE &&
	     tree_store_object(p->store, pair->new_entry, &trees[0]) < 0) ||
	    (pair->old_entry != ENTRY_POOL_NONE &&
	     tree_store_object(p->store, pair->old_entry, &trees[1]) < 0))
		return error_nomem(p->err);
	return diff_trees(p, trees[0], trees[1], taken, depth + 1);
}

/*
 * Reports an entry that only one tree has, or that differs between the trees.
 * `pair` has the entry_nr of the entry in each tree. The bytes of an entry are
 * valid only until another tree is read.
 */
static int report(struct path_changes *p, const struct entry_pair *pair,
		  enum pathspec_below taken, unsigned depth)
{
	uint32_t some = pair->new_entry == ENTRY_POOL_NONE ? pair->old_entry
							   : pair->new_entry;
	size_t dir_len = p->path.len;
	struct tree_entry entry;
	int ret;

	entry_pool_get(&entry, p->pool, some, p->algo);
	if (buf_append(&p->path, entry.name, entry.name_len) < 0)
		return error_nomem(p->err);
	ret = tree_entry_is_dir(&entry)
		      ? enter_dir(p, pair, taken, depth)
		      : report_file(p, pair, tree_entry_is_gitlink(&entry),
				    taken);
	buf_set_len(&p->path, dir_len);
	return ret;
}

/* Returns whether two entries of the same name are equal. */
static bool is_same(const struct path_changes *p, uint32_t a, uint32_t b)
{
	struct tree_entry ea, eb;

	entry_pool_get(&ea, p->pool, a, p->algo);
	entry_pool_get(&eb, p->pool, b, p->algo);
	return tree_mode_plain(ea.mode) == tree_mode_plain(eb.mode) &&
	       !memcmp(ea.oid, eb.oid, hash_len(p->algo));
}

/* Moves both sides past entries that are equal in both directories. */
static void skip_common(const struct path_changes *p, struct side *a,
			struct side *b)
{
	const struct tree_table *ta = &a->tree.table, *tb = &b->tree.table;

	while (a->at < ta->nr && b->at < tb->nr &&
	       entry_pool_equal(p->pool, ta->entries[a->at],
				tb->entries[b->at])) {
		a->at++;
		b->at++;
	}
}

/*
 * Compares the names of the next entries of both directories, like strcmp().
 * The end of a directory is greater than every name.
 */
static int compare(const struct path_changes *p, const struct side *a,
		   const struct side *b)
{
	struct tree_entry ea, eb;

	if (a->at == a->tree.table.nr)
		return 1;
	if (b->at == b->tree.table.nr)
		return -1;
	entry_pool_get(&ea, p->pool, a->tree.table.entries[a->at], p->algo);
	entry_pool_get(&eb, p->pool, b->tree.table.entries[b->at], p->algo);
	return tree_name_cmp(&ea, &eb);
}

static int diff_sides(struct path_changes *p, struct side *a, struct side *b,
		      enum pathspec_below taken, unsigned depth)
{
	int ret = 0;

	while (!ret) {
		struct entry_pair pair = {ENTRY_POOL_NONE, ENTRY_POOL_NONE};
		int order;

		skip_common(p, a, b);
		if (a->at == a->tree.table.nr && b->at == b->tree.table.nr)
			break;
		order = compare(p, a, b);
		if (order <= 0)
			pair.new_entry = a->tree.table.entries[a->at++];
		if (order >= 0)
			pair.old_entry = b->tree.table.entries[b->at++];
		if (order || !is_same(p, pair.new_entry, pair.old_entry))
			ret = report(p, &pair, taken, depth);
	}
	return ret;
}

static int open_side(struct path_changes *p, struct side *side, uint32_t tree)
{
	*side = (struct side){.tree = TREE_INIT};
	return tree == PATH_CHANGES_NO_TREE
		       ? 0
		       : tree_store_read(p->store, tree, NULL, &side->tree,
					 p->err);
}

static int diff_trees(struct path_changes *p, uint32_t new_tree,
		      uint32_t old_tree, enum pathspec_below taken,
		      unsigned depth)
{
	struct side a, b = {.tree = TREE_INIT};
	int ret;

	if (new_tree == old_tree)
		return 0;
	if (odb_is_too_deep(p->odb, depth))
		return error_set(p->err, ERR_CORRUPT, ODB_TOO_DEEP ": %s",
				 p->path.data);
	ret = open_side(p, &a, new_tree);
	if (!ret)
		ret = open_side(p, &b, old_tree);
	if (!ret)
		ret = diff_sides(p, &a, &b, taken, depth);
	tree_store_release(p->store, &a.tree);
	tree_store_release(p->store, &b.tree);
	return ret;
}

int path_changes_run(struct path_changes *p, uint32_t new_tree,
		     uint32_t old_tree, path_change_fn fn, void *ctx,
		     struct error *err)
{
	if (tree_store_trim(p->store) < 0)
		return error_nomem(err);
	p->fn = fn;
	p->ctx = ctx;
	p->err = err;
	buf_reset(&p->path);
	return diff_trees(
		p, new_tree, old_tree,
		p->limits ? pathspec_below(p->limits, "", 0) : PATHSPEC_ALL, 0);
}
