/* SPDX-License-Identifier: MIT */
/* Looks up names in the bytes of two trees. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "graph-write/path-changes.h"
#include "object/parse.h"
#include "simplify/simplify-parts.h"
#include "trees/tree-merge.h"
#include "trees/treewalk.h"

struct path_look {
	struct objspace *space;       /* borrowed */
	const struct pathspec *paths; /* borrowed */
	struct odb_reader *reader;    /* owned */
	enum hash_algo algo;
	struct error *err; /* of the current call */
};

/*
 * A tree that is being read, and the place of its next entry. All fields are
 * zero if there is no tree.
 */
struct side {
	struct odb_object tree;
	struct cursor at;
	uint32_t tree_pos;
};

/*
 * The entries `a` and `b` of one name in two trees. a.name or b.name is NULL if
 * the tree lacks the name.
 */
struct pair {
	struct tree_entry a, b;
};

bool path_look_fits(const struct pathspec *paths)
{
	return !paths->has_wildcards && !paths->has_icase &&
	       !paths->has_excludes;
}

struct path_look *path_look_new(struct objspace *space,
				const struct pathspec *paths,
				size_t cache_limit)
{
	struct path_look *l = mem_calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->space = space;
	l->paths = paths;
	l->algo = space->odb->algo;
	l->reader = odb_reader_new(space->odb, cache_limit);
	if (l->reader)
		return l;
	free(l);
	return NULL;
}

void path_look_free(struct path_look *l)
{
	if (!l)
		return;
	odb_reader_free(l->reader);
	free(l);
}

/* ---- trees */

static int bad_tree(struct path_look *l, const struct side *side,
		    const char *what)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid oid;

	objspace_oid(&oid, l->space, side->tree_pos);
	return error_set(l->err, ERR_CORRUPT, "%s: %s", what,
			 oid_to_hex(hex, &oid, l->algo));
}

static int open_side(struct path_look *l, struct side *side, uint32_t tree_pos)
{
	int ret;

	*side = (struct side){.tree_pos = tree_pos};
	if (tree_pos == PATH_CHANGES_NO_TREE)
		return 0;
	ret = objspace_read(l->space, l->reader, tree_pos, &side->tree, l->err);
	if (ret < 0)
		return ret;
	if (side->tree.type != OBJ_TREE)
		return bad_tree(l, side, "not a tree object");
	side->at = cursor_make(side->tree.data, side->tree.len);
	return 0;
}

static void close_side(struct path_look *l, struct side *side)
{
	odb_object_release(l->reader, &side->tree);
}

/*
 * Reads the next entry into *e; e->name is NULL at the end. Returns 0 or a
 * negative error code.
 */
static int next_entry(struct path_look *l, struct side *side,
		      struct tree_entry *e)
{
	int ret = 0;

	if (side->at.p)
		ret = tree_next(e, &side->at, l->algo);
	if (ret < 0)
		return bad_tree(l, side, "malformed tree");
	if (!ret)
		e->name = NULL;
	return 0;
}

/*
 * Finds the entry that has the given name. The entry may be a file or a
 * directory. e->name is NULL if there is no such entry. Returns 0 or a negative
 * error code.
 */
static int find_entry(struct path_look *l, struct side *side, const char *name,
		      size_t len, struct tree_entry *e)
{
	for (;;) {
		int ret = next_entry(l, side, e), order;

		if (ret < 0 || !e->name)
			return ret;
		order = memcmp(e->name, name,
			       e->name_len < len ? e->name_len : len);
		if (!order && e->name_len == len)
			return 0;
		/*
		 * Names are sorted. No later entry can have this name, neither
		 * a file nor a directory.
		 */
		if (order > 0)
			break;
	}
	e->name = NULL;
	return 0;
}

/*
 * Sets *tree_pos to the tree that an entry names, or to PATH_CHANGES_NO_TREE if
 * the entry is not a directory.
 */
static int tree_of(struct path_look *l, const struct tree_entry *e,
		   uint32_t *tree_pos)
{
	*tree_pos = PATH_CHANGES_NO_TREE;
	if (!e->name || !tree_entry_is_dir(e))
		return 0;
	return objspace_add(l->space, e->oid, tree_pos) < 0
		       ? error_nomem(l->err)
		       : 0;
}

/* ---- all of a directory */

static int trees_differ(struct path_look *l, uint32_t new_tree,
			uint32_t old_tree, unsigned depth);

static bool is_file(const struct tree_entry *e)
{
	return e->name && !tree_entry_is_dir(e);
}

/*
 * Returns 1 if the two entries of one name differ, 0 if not, or a negative
 * error code.
 */
static int entries_differ(struct path_look *l, const struct pair *pair,
			  unsigned depth)
{
	const struct tree_entry *a = &pair->a, *b = &pair->b;
	uint32_t trees[2];
	int ret;

	if (!a->name && !b->name)
		return 0;
	if (a->name && b->name &&
	    tree_mode_plain(a->mode) == tree_mode_plain(b->mode) &&
	    !memcmp(a->oid, b->oid, hash_len(l->algo)))
		return 0;
	if (is_file(a) || is_file(b))
		return 1;
	ret = tree_of(l, a, &trees[0]);
	if (!ret)
		ret = tree_of(l, b, &trees[1]);
	return ret < 0 ? ret : trees_differ(l, trees[0], trees[1], depth + 1);
}

/*
 * Reads the entries of two trees in parallel until an entry differs. Returns 1
 * if one differs, 0 if none, or a negative error code.
 */
static int sides_differ(struct path_look *l, struct side *new_side,
			struct side *old_side, unsigned depth)
{
	struct tree_merge m = tree_merge_make(new_side->at, old_side->at,
					      l->algo);
	const struct tree_entry *a, *b;
	int more, ret = 0;

	while (!ret && (more = tree_merge_next(&m, &a, &b))) {
		struct pair pair = {{0}, {0}};

		if (more < 0)
			return bad_tree(l, m.is_a_bad ? new_side : old_side,
					"malformed tree");
		if (a)
			pair.a = *a;
		if (b)
			pair.b = *b;
		ret = entries_differ(l, &pair, depth);
	}
	return ret;
}

static int trees_differ(struct path_look *l, uint32_t new_tree,
			uint32_t old_tree, unsigned depth)
{
	struct side a = {.tree_pos = new_tree}, b = {.tree_pos = old_tree};
	int ret;

	if (new_tree == old_tree)
		return 0;
	if (odb_is_too_deep(l->space->odb, depth))
		return bad_tree(l, new_tree == PATH_CHANGES_NO_TREE ? &b : &a,
				ODB_TOO_DEEP);
	ret = open_side(l, &a, new_tree);
	if (!ret)
		ret = open_side(l, &b, old_tree);
	if (!ret)
		ret = sides_differ(l, &a, &b, depth);
	close_side(l, &a);
	close_side(l, &b);
	return ret;
}

/* ---- one path */

/*
 * For a pattern that ends in a slash ("a/"): clears the entry if it is a file,
 * because such a pattern selects only directories and submodules.
 */
static void drop_file(struct tree_entry *e)
{
	if (is_file(e) && !tree_entry_is_gitlink(e))
		e->name = NULL;
}

static int path_differs(struct path_look *l, const char *path,
			uint32_t new_tree, uint32_t old_tree, unsigned depth);

/*
 * Compares the entries of the first component of `path` in both trees. If the
 * path has no further component, the whole entries are compared. Otherwise goes
 * on with the next component, in the directories that the entries name.
 */
static int component_differs(struct path_look *l, const char *path, size_t len,
			     struct pair *pair, unsigned depth)
{
	uint32_t trees[2];
	int ret;

	if (!path[len])
		return entries_differ(l, pair, depth);
	if (!path[len + 1]) {
		drop_file(&pair->a);
		drop_file(&pair->b);
		return entries_differ(l, pair, depth);
	}
	ret = tree_of(l, &pair->a, &trees[0]);
	if (!ret)
		ret = tree_of(l, &pair->b, &trees[1]);
	return ret < 0 ? ret
		       : path_differs(l, path + len + 1, trees[0], trees[1],
				      depth + 1);
}

static int path_differs(struct path_look *l, const char *path,
			uint32_t new_tree, uint32_t old_tree, unsigned depth)
{
	size_t len = strcspn(path, "/");
	struct side a, b = {.tree_pos = old_tree};
	struct pair pair;
	int ret;

	if (new_tree == old_tree)
		return 0;
	if (!len)
		return trees_differ(l, new_tree, old_tree, depth);
	ret = open_side(l, &a, new_tree);
	if (!ret)
		ret = open_side(l, &b, old_tree);
	if (!ret)
		ret = find_entry(l, &a, path, len, &pair.a);
	if (!ret)
		ret = find_entry(l, &b, path, len, &pair.b);
	if (!ret)
		ret = component_differs(l, path, len, &pair, depth);
	close_side(l, &a);
	close_side(l, &b);
	return ret;
}

int path_look_differs(struct path_look *l, uint32_t new_tree, uint32_t old_tree,
		      struct error *err)
{
	int ret = 0;

	l->err = err;
	for (size_t i = 0; i < l->paths->nr && !ret; i++)
		ret = path_differs(l, l->paths->items[i].match, new_tree,
				   old_tree, 0);
	return ret;
}
