/* SPDX-License-Identifier: MIT */
/*
 * Compares the tree of a commit (the child) with the tree of each parent of the
 * commit (a side). A tree is a table of numbers, one for each entry, in the
 * order of the names. Equal numbers mean equal entries: mode, name and id are
 * the same (trees/entry-pool.h). The comparison is one pass over the tables.
 * Runs of numbers that are equal in child and side are skipped without reading
 * names or ids.
 */
#include <string.h>

#include "base/mem.h"
#include "object/parse.h"
#include "trees/tree-store.h"
#include "trees/treediff.h"
#include "trees/treewalk.h"

struct items {
	struct treediff_object *items; /* owned */
	size_t nr, alloc;
};

struct treediff {
	struct objspace *space;         /* borrowed */
	struct treediff_shared *shared; /* borrowed, or NULL */
	const struct bitset *known;     /* borrowed, or NULL */
	bool trees_only;
	enum path_grouping grouping;
	struct tree_store *store; /* owned */
	struct entry_pool *pool;  /* the store's */
	enum hash_algo algo;
	struct items trees, blobs;
	/* indexed by obj_pos: the subtrees in `trees` */
	struct bitset listed;
	uint32_t order;
};

/*
 * A parent's tree, and how far it was compared with the child (the tree of the
 * commit). Entries of the parent before index `at` were compared already. Their
 * names sort before the name of the child's entry `synced`.
 */
struct side {
	struct tree tree;
	uint32_t at;
	/*
	 * index of the child's entry that corresponds to entry `at` of the
	 * parent's tree
	 */
	uint32_t synced;
};

int treediff_shared_init(struct treediff_shared *shared, size_t nr)
{
	shared->listed_by = mem_calloc(nr, sizeof(*shared->listed_by));
	shared->nr = nr;
	return shared->listed_by ? 0 : ERR_NOMEM;
}

void treediff_shared_release(struct treediff_shared *shared)
{
	free(shared->listed_by);
	shared->listed_by = NULL;
}

struct treediff *treediff_new(struct objspace *space,
			      struct treediff_shared *shared,
			      const struct treediff_options *options)
{
	struct treediff *d = mem_calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->space = space;
	d->shared = shared;
	d->known = options->known;
	d->trees_only = options->trees_only;
	d->grouping = options->grouping;
	d->algo = space->odb->algo;
	d->store = tree_store_new(space, options->cache_limit,
				  !options->trees_only);
	if (!d->store || bitset_init(&d->listed, space->packed_nr) < 0) {
		treediff_free(d);
		return NULL;
	}
	d->pool = tree_store_pool(d->store);
	return d;
}

void treediff_free(struct treediff *d)
{
	if (!d)
		return;
	tree_store_free(d->store);
	bitset_release(&d->listed);
	free(d->trees.items);
	free(d->blobs.items);
	free(d);
}

/* Values that are computed from the path of a tree entry, or of a directory. */
struct place {
	/*
	 * Hash of the path (name_hash_add()). The path of an entry has no slash
	 * at its end, also if the entry is a directory. Parameters named `dir`
	 * stand for the directory whose entries are compared: the path of `dir`
	 * ends with a slash, and that of the root directory is empty.
	 */
	uint32_t hash;
	uint32_t group; /* path group (object/path-group.h) */
};

static int append(struct items *list, uint32_t obj_pos, struct place place)
{
	if (mem_grow(&list->items, &list->alloc, list->nr + 1,
		     sizeof(*list->items)) < 0)
		return ERR_NOMEM;
	list->items[list->nr++] = (struct treediff_object){
		.obj_pos = obj_pos,
		.name_hash = place.hash,
		.group = place.group,
	};
	return 0;
}

/*
 * Returns whether an earlier commit has listed this tree, so that the current
 * commit's list leaves the tree out. If not, records that the current commit
 * lists it. Here a commit is earlier than another if its `order` is smaller
 * (treediff_run()), so parents are earlier than their children.
 *
 * The list of the earlier commit may lack some objects below the tree: for the
 * same reason, it leaves out objects that are in the lists of still earlier
 * commits. So the union of all lists is complete. Lists of later commits do not
 * count. Otherwise two commits could leave out a tree because of each other's
 * lists, for example when a change was reverted.
 */
static bool is_listed_before(struct treediff *d, uint32_t tree_pos)
{
	uint32_t by, self = d->order + 1;

	if (!d->shared || tree_pos >= d->shared->nr)
		return false;
	by = atomic_load_explicit(&d->shared->listed_by[tree_pos],
				  memory_order_relaxed);
	if (by && by < self)
		return true;
	if (!by || by > self)
		atomic_store_explicit(&d->shared->listed_by[tree_pos], self,
				      memory_order_relaxed);
	return false;
}

/*
 * Opens those trees of the parents that are readable, and puts them into
 * `sides`. Returns the number of opened trees, or ERR_NOMEM.
 */
static int open_sides(struct treediff *d, struct side *sides,
		      const uint32_t *parents, unsigned nr, struct error *err)
{
	unsigned opened = 0;

	for (unsigned i = 0; i < nr; i++) {
		struct side *side = &sides[opened];
		int ret = tree_store_read(d->store, parents[i], NULL,
					  &side->tree, NULL);

		if (ret == ERR_NOMEM)
			return error_nomem(err);
		side->at = side->synced = 0;
		opened += !ret;
	}
	return (int)opened;
}

/*
 * Returns how many entries at the start of two arrays are equal, at most `max`.
 * Both arrays have at least `max` entries.
 */
static uint32_t common_run(const uint32_t *a, const uint32_t *b, uint32_t max)
{
	uint32_t i = 0;

	for (; i + 8 <= max; i += 8) {
		uint64_t x[4], y[4];

		memcpy(x, a + i, sizeof(x));
		memcpy(y, b + i, sizeof(y));
		if ((x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) |
		    (x[3] ^ y[3]))
			break;
	}
	while (i < max && a[i] == b[i])
		i++;
	return i;
}

/*
 * Compares the entries of the child, from index `from` on, with the entries of
 * one parent's tree. Returns the number of equal entries before the first
 * difference. `side` must be at the entry that corresponds to `from`. The
 * function moves `side` past the equal entries.
 */
static uint32_t skip_common(const struct treediff *d, struct side *side,
			    const struct tree_table *child, uint32_t from)
{
	const struct tree_table *t = &side->tree.table;
	uint32_t max = t->nr - side->at, run = 0;

	if (child->nr - from < max)
		max = child->nr - from;
	for (;;) {
		run += common_run(child->entries + from + run,
				  t->entries + side->at + run, max - run);
		if (run == max ||
		    !entry_pool_equal(d->pool, child->entries[from + run],
				      t->entries[side->at + run]))
			break;
		run++;
	}
	side->at += run;
	side->synced = from + run;
	return run;
}

/*
 * Compares the name of entry i of a parent's tree with the name of `entry`.
 * Returns a negative number, 0 or a positive number, like strcmp().
 */
static int cmp_at(const struct treediff *d, const struct side *side, uint32_t i,
		  const struct tree_entry *entry)
{
	struct tree_entry at;

	entry_pool_get(&at, d->pool, side->tree.table.entries[i], d->algo);
	return tree_name_cmp(&at, entry);
}

/*
 * Moves the position in the tree of a parent commit to the first entry whose
 * name is that of `entry` (entry i of the child commit's tree) or sorts after
 * it. Two guesses are tried before a search: the position is already right, or
 * it must move as far as the position in the child's tree has moved.
 */
static void seek(const struct treediff *d, struct side *side,
		 const struct tree_table *child, uint32_t i,
		 const struct tree_entry *entry)
{
	uint32_t nr = side->tree.table.nr, step = 1;
	uint32_t ahead = i - side->synced, hi;

	side->synced = i;
	if (ahead && ahead < nr - side->at &&
	    entry_pool_equal(d->pool, child->entries[i],
			     side->tree.table.entries[side->at + ahead])) {
		side->at += ahead;
		return;
	}
	hi = side->at;
	while (hi < nr && cmp_at(d, side, hi, entry) < 0) {
		side->at = hi + 1;
		hi = nr - side->at > step ? side->at + step : nr;
		step *= 2;
	}
	while (side->at < hi) {
		uint32_t mid = side->at + (hi - side->at) / 2;

		if (cmp_at(d, side, mid, entry) < 0)
			side->at = mid + 1;
		else
			hi = mid;
	}
}
/*
 * Looks in the tree of a parent commit, `side`, for the name of `entry`, which
 * is entry i of the child commit's tree. If the name is there, sets *found to
 * the number (entry_nr) of the parent's entry, moves the position in `side`
 * past this entry, and returns true. Otherwise moves the position to the next
 * name, and returns false.
 */
static bool find_in_side(const struct treediff *d, struct side *side,
			 const struct tree_table *child, uint32_t i,
			 const struct tree_entry *entry, uint32_t *found)
{
	const struct tree_table *t = &side->tree.table;

	seek(d, side, child, i, entry);
	side->synced = i + 1;
	if (side->at == t->nr || cmp_at(d, side, side->at, entry))
		return false;
	*found = t->entries[side->at++];
	return true;
}

/*
 * Returns true if one of the parents' trees (`sides`) has an entry with the
 * same name and the same object as `entry`. Otherwise returns false, and sets
 * *sub to the parents' entries of this name that are directories.
 */
static bool find_in_sides(const struct treediff *d, struct side *sides,
			  unsigned nr, const struct tree_table *child,
			  uint32_t i, const struct tree_entry *entry,
			  uint32_t *sub, unsigned *sub_nr)
{
	*sub_nr = 0;
	for (unsigned k = 0; k < nr; k++) {
		struct tree_entry other;
		uint32_t found;

		if (!find_in_side(d, &sides[k], child, i, entry, &found))
			continue;
		entry_pool_get(&other, d->pool, found, d->algo);
		/*
		 * The commit of a submodule is in another repository. So a
		 * submodule and a file with equal ids are not the same object.
		 */
		if (!tree_entry_is_gitlink(&other) &&
		    !memcmp(other.oid, entry->oid, hash_len(d->algo)))
			return true;
		if (tree_entry_is_dir(entry) && tree_entry_is_dir(&other))
			sub[(*sub_nr)++] = found;
	}
	return false;
}

static int diff_tree(struct treediff *d, uint32_t tree_pos,
		     const uint32_t *parents, unsigned parent_nr,
		     struct place dir, unsigned depth, struct error *err);

/* Adds a subtree of the commit's tree to the list of new trees. */
static int append_subtree(struct treediff *d, uint32_t tree_pos,
			  struct place place)
{
	size_t bits = (size_t)tree_pos + tree_pos / 2 + 64;

	if (tree_pos >= d->listed.bits && bitset_grow(&d->listed, bits) < 0)
		return ERR_NOMEM;
	if (append(&d->trees, tree_pos, place) < 0)
		return ERR_NOMEM;
	bitset_set(&d->listed, tree_pos);
	return 0;
}

/*
 * Empties the lists. Clears only the bits that the last run has set, because
 * most runs list few trees.
 */
static void reset(struct treediff *d)
{
	for (size_t i = 0; i < d->trees.nr; i++)
		if (d->trees.items[i].obj_pos < d->listed.bits)
			bitset_unset(&d->listed, d->trees.items[i].obj_pos);
	d->trees.nr = d->blobs.nr = 0;
}

/*
 * Lists the new objects of a directory of a commit's tree. The caller has
 * checked that no parent commit has the same directory at this path.
 *
 * A tree may be at several paths of the commit. It is read only at the first
 * one. Otherwise a few small trees, nested in each other many times, would be
 * read at billions of paths.
 */
static int list_tree(struct treediff *d, uint32_t tree_pos, const uint32_t *sub,
		     unsigned sub_nr, struct place place, unsigned depth,
		     struct error *err)
{
	uint32_t parents[TREEDIFF_MAX_PARENTS];

	if (bitset_get(&d->listed, tree_pos) || is_listed_before(d, tree_pos))
		return 0;
	if (append_subtree(d, tree_pos, place) < 0)
		return error_nomem(err);
	for (unsigned i = 0; i < sub_nr; i++)
		if (tree_store_object(d->store, sub[i], &parents[i]) < 0)
			return error_nomem(err);
	place.hash = name_hash_add(place.hash, "/", 1);
	return diff_tree(d, tree_pos, parents, sub_nr, place, depth + 1, err);
}

/*
 * Lists entry i of the child as new, unless a parent's tree has the same object
 * at this path.
 */
static int diff_entry(struct treediff *d, const struct tree_table *child,
		      uint32_t i, struct side *sides, unsigned side_nr,
		      struct place dir, unsigned depth, struct error *err)
{
	uint32_t sub[TREEDIFF_MAX_PARENTS], obj_pos;
	struct tree_entry entry;
	struct place place;
	unsigned sub_nr;

	/*
	 * `entry` points into the pool of entries, and is invalid after the
	 * next tree is read.
	 */
	entry_pool_get(&entry, d->pool, child->entries[i], d->algo);
	if (tree_entry_is_gitlink(&entry) ||
	    (d->trees_only && !tree_entry_is_dir(&entry)) ||
	    find_in_sides(d, sides, side_nr, child, i, &entry, sub, &sub_nr))
		return 0;
	place.hash = name_hash_add(dir.hash, entry.name, entry.name_len);
	place.group = path_group_enter(d->grouping, dir.group, entry.name,
				       entry.name_len);
	if (tree_store_object(d->store, child->entries[i], &obj_pos) < 0)
		return error_nomem(err);
	if (d->known && bitset_get(d->known, obj_pos))
		return 0;
	if (tree_entry_is_dir(&entry))
		return list_tree(d, obj_pos, sub, sub_nr, place, depth, err);
	return append(&d->blobs, obj_pos, place) < 0 ? error_nomem(err) : 0;
}

static int diff_entries(struct treediff *d, const struct tree_table *child,
			struct side *sides, unsigned side_nr, struct place dir,
			unsigned depth, struct error *err)
{
	uint32_t i = 0;
	int ret = 0;

	for (; !ret; i++) {
		if (side_nr)
			i += skip_common(d, &sides[0], child, i);
		if (i >= child->nr)
			break;
		ret = diff_entry(d, child, i, sides, side_nr, dir, depth, err);
	}
	return ret;
}

static int diff_tree(struct treediff *d, uint32_t tree_pos,
		     const uint32_t *parents, unsigned parent_nr,
		     struct place dir, unsigned depth, struct error *err)
{
	struct side sides[TREEDIFF_MAX_PARENTS];
	struct tree tree = TREE_INIT;
	int opened, ret;

	if (odb_is_too_deep(d->space->odb, depth))
		return objspace_error(d->space, tree_pos, ERR_CORRUPT,
				      ODB_TOO_DEEP, err);
	memset(sides, 0, parent_nr * sizeof(*sides));
	ret = opened = open_sides(d, sides, parents, parent_nr, err);
	if (ret >= 0)
		ret = tree_store_read(d->store, tree_pos,
				      opened ? &sides[0].tree : NULL, &tree,
				      err);
	if (!ret)
		ret = diff_entries(d, &tree.table, sides, (unsigned)opened, dir,
				   depth, err);
	for (unsigned i = 0; i < parent_nr; i++)
		tree_store_release(d->store, &sides[i].tree);
	tree_store_release(d->store, &tree);
	return ret;
}

int treediff_run(struct treediff *d, uint32_t tree_pos, const uint32_t *parents,
		 unsigned parent_nr, uint32_t order,
		 struct treediff_result *result, struct error *err)
{
	const struct place root = {0, 0};
	int ret = 0;

	reset(d);
	d->order = order;
	if (tree_store_trim(d->store) < 0) {
		ret = error_nomem(err);
		goto out;
	}
	for (unsigned i = 0; i < parent_nr; i++)
		if (parents[i] == tree_pos)
			goto out;
	if ((d->known && bitset_get(d->known, tree_pos)) ||
	    is_listed_before(d, tree_pos))
		goto out;
	if (append(&d->trees, tree_pos, root) < 0)
		ret = error_nomem(err);
	else
		ret = diff_tree(d, tree_pos, parents, parent_nr, root, 0, err);
out:
	*result = (struct treediff_result){
		d->trees.items,
		d->blobs.items,
		d->trees.nr,
		d->blobs.nr,
	};
	return ret;
}
