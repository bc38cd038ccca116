/* SPDX-License-Identifier: MIT */
/* Lists the objects of a request by comparing trees. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "object/parse.h"
#include "trees/tree-closure.h"
#include "trees/treediff.h"
#include "trees/treewalk.h"
#include "walk/filter-walk.h"
#include "walk/filtered.h"
#include "walk/walk.h"

struct enumerate {
	struct walk *w;
	const struct walk_options *options;
	struct walk_result *result;
	/*
	 * the walk over single trees; its set `seen` has the objects that were
	 * processed
	 */
	struct treewalk tree;
	const struct filter *filter; /* NULL: no filter */
	/*
	 * the walk that knows the depth and the path of each tree; used only if
	 * the filter depends on depths or paths
	 */
	struct filter_walk paths;
	bool has_paths;
	/*
	 * with a filter: the objects that pass in any case (see filtered.h),
	 * indexed by obj_pos
	 */
	struct bitset spared;
	/*
	 * Trees and blobs of the wanted commits, without those that the newest
	 * uninteresting commit has at the same path (see use_tree_changes in
	 * walk.h). The list may have an object twice, and may have
	 * uninteresting objects.
	 */
	struct walk_items changes;
	/*
	 * true: `changes` has all trees and blobs of the result, so no other
	 * trees need be compared
	 */
	bool has_changes;
};

/* Returns whether the filter may let an object of this type pass. */
static bool takes_type(const struct enumerate *e, enum object_type type)
{
	return !e->filter || filter_takes_type(e->filter, type);
}

static int emit(struct enumerate *e, const struct walk_item *item,
		struct error *err)
{
	int ret = item_kinds_add(&e->tree.kinds, &e->w->space, item->obj_pos,
				 (enum object_type)item->type, err);
	int fresh = ret ? 0 : treewalk_see(&e->tree, item->obj_pos);

	if (fresh < 0 ||
	    (fresh && walk_items_add(&e->result->objects, item) < 0))
		return error_nomem(err);
	return ret;
}

/* Adds an object to the result, after the filter has let the object pass. */
static int emit_passed(void *ctx, uint32_t obj_pos, enum object_type type,
		       const char *path, size_t path_len, struct error *err)
{
	struct enumerate *e = ctx;
	const struct walk_item item = {
		.obj_pos = obj_pos,
		.name_hash = name_hash_add(0, path, path_len),
		.group = path_group_path(e->options->grouping, path, path_len),
		.type = (uint8_t)type,
	};

	return walk_items_add(&e->result->objects, &item) < 0 ? error_nomem(err)
							      : 0;
}

/*
 * Adds an object to the result. The filter is applied later, with one
 * exception. If the filter lets no trees and no blobs pass, a tree is left out
 * at once: the function returns 1, so that the walk skips the tree's entries.
 * Trees in e->spared are not left out: they are wants, which are sent even if
 * they do not pass the filter.
 */
static int emit_from_walk(void *ctx, uint32_t obj_pos, enum object_type type,
			  const char *path, size_t path_len, struct error *err)
{
	struct enumerate *e = ctx;

	if (path_len && !e->options->spare_nested)
		filtered_unspare(&e->spared, obj_pos);
	if (type == OBJ_TREE && !takes_type(e, OBJ_TREE) &&
	    !takes_type(e, OBJ_BLOB) && !bitset_get(&e->spared, obj_pos))
		return 1;
	return emit_passed(e, obj_pos, type, path, path_len, err);
}

/* Adds a tree and all objects below it to the result. */
static int emit_tree(struct enumerate *e, uint32_t tree_pos, struct error *err)
{
	if (!e->has_paths)
		return treewalk_run(&e->tree, tree_pos, "", emit_from_walk, e,
				    err);
	return filter_walk_run(&e->paths, tree_pos, "",
			       bitset_get(&e->spared, tree_pos), emit_passed, e,
			       err);
}

/*
 * Adds a wanted tag, tree or blob to the result. For a tree, also adds the
 * objects below it.
 */
static int emit_want(struct enumerate *e, const struct walk_item *item,
		     struct error *err)
{
	if (item->type == OBJ_TREE)
		return emit_tree(e, item->obj_pos, err);
	if (item->type == OBJ_BLOB && e->has_paths &&
	    !bitset_get(&e->spared, item->obj_pos))
		return filter_walk_blob(&e->paths, item->obj_pos, "",
					emit_passed, e, err);
	return emit(e, item, err);
}

/*
 * Processes tips that are tags, trees or blobs. If `exclude` is set, excludes
 * these objects from the result; otherwise adds them to the result.
 */
static int take_others(struct enumerate *e, const struct walk_items *others,
		       bool exclude, struct error *err)
{
	for (size_t i = 0; i < others->nr; i++) {
		const struct walk_item *item = &others->items[i];
		int ret = 0;

		if (item->type == OBJ_TREE && exclude)
			ret = treewalk_run(&e->tree, item->obj_pos, "", NULL, e,
					   err);
		else if (exclude)
			ret = treewalk_see(&e->tree, item->obj_pos) < 0
				      ? error_nomem(err)
				      : 0;
		else
			ret = emit_want(e, item, err);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int exclude_boundary(struct enumerate *e, struct error *err)
{
	const struct history *h = &e->w->history;

	for (size_t i = 0; i < e->result->revs.boundary_nr; i++) {
		uint32_t c = e->result->revs.boundary[i];
		int ret;

		if (!h->commits[c].parsed)
			continue;
		ret = treewalk_run(&e->tree, h->commits[c].tree_pos, "", NULL,
				   NULL, err);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/*
 * All objects that the haves reach are excluded only if the haves' history is
 * short: at most UNINTERESTING_RATIO commits for each wanted commit, plus
 * UNINTERESTING_FEW. To walk a longer history costs more than it saves.
 */
#define UNINTERESTING_RATIO 2
#define UNINTERESTING_FEW 64

/*
 * Finds the trees and blobs of the commits in `revs`, except objects in `seen`.
 * Appends them to `found`, and adds them to `seen`.
 */
static int find_set(struct enumerate *e, const struct revwalk_result *revs,
		    const struct tree_closure_options *options,
		    struct walk_items *found, struct bitset *seen,
		    struct error *err)
{
	uint32_t *trees = mem_alloc(revs->nr, sizeof(*trees));
	int ret;

	if (!trees)
		return error_nomem(err);
	for (size_t i = 0; i < revs->nr; i++)
		trees[i] = e->w->history.commits[revs->commits[i]].tree_pos;
	ret = tree_closure_find(found, seen, &e->w->space, trees, revs->nr,
				options, err);
	free(trees);
	return ret;
}

/*
 * Maximum number of wanted commits whose trees are compared with the tree of
 * the newest uninteresting commit. With more wanted commits, this shortcut is
 * not tried.
 */
#define CHANGES_MAX 8

/*
 * Compares the wanted commits' trees with the tree of the newest uninteresting
 * commit. Returns 0 if e->changes is complete, 1 if too much changed (walk
 * everything instead), or a negative error code.
 */
static int find_changes(struct enumerate *e, const struct revwalk_result *revs)
{
	const struct revwalk_result *wanted = &e->result->revs;
	const struct history_commit *commits = e->w->history.commits;
	struct treewalk old;
	int ret;

	if (!revs->nr || wanted->nr > CHANGES_MAX || e->filter ||
	    !e->options->set_only)
		return 1;
	ret = treewalk_init(&old, &e->w->space, e->w->reader);
	for (size_t i = 0; i < wanted->nr && !ret; i++)
		ret = tree_changes_find(
			&e->changes, &old, commits[revs->commits[0]].tree_pos,
			commits[wanted->commits[i]].tree_pos, NULL);
	if (!ret) {
		e->result->uninteresting = old.seen;
		old.seen = (struct bitset)BITSET_INIT;
	}
	treewalk_release(&old);
	return ret;
}

static int add_uninteresting(struct enumerate *e,
			     const struct revwalk_result *revs)
{
	const struct tree_closure_options options = {
		.threads = e->w->history.threads,
	};
	struct walk_items ignored = {0};
	int ret = e->options->use_tree_changes ? find_changes(e, revs) : 1;

	e->has_changes = !ret;
	if (ret <= 0)
		return ret;
	ret = find_set(e, revs, &options, &ignored, &e->result->uninteresting,
		       NULL);
	free(ignored.items);
	return ret;
}

/*
 * Excludes the objects that the haves reach. If one of these objects cannot be
 * read, none of them is excluded. This is no error, because a repository need
 * not have all objects that haves reach.
 *
 * If a tree is in `seen`, all objects below it must be in `seen` too. So a tree
 * that was read only in part must not be put there.
 */
static int exclude_uninteresting(struct enumerate *e,
				 const struct walk_tips *haves,
				 struct error *err)
{
	const struct revwalk_tips tips = {haves->commits, haves->commit_nr,
					  NULL, 0};
	struct revwalk_result revs = REVWALK_RESULT_INIT;
	size_t limit = UNINTERESTING_RATIO * e->result->revs.nr +
		       UNINTERESTING_FEW;
	int ret = revwalk_within(&revs, &e->w->history, &tips, limit, NULL);

	if (!ret)
		ret = add_uninteresting(e, &revs);
	if (!ret)
		ret = bitset_copy(&e->tree.seen, &e->result->uninteresting);
	if (ret)
		bitset_release(&e->result->uninteresting);
	revwalk_result_release(&revs);
	return ret == ERR_NOMEM ? error_nomem(err) : 0;
}

static int emit_list(struct enumerate *e, const struct newobj_list *list,
		     struct error *err)
{
	for (uint32_t i = 0; i < list->nr; i++) {
		const struct walk_item item = {
			.obj_pos = list->items[i].obj_pos,
			.name_hash = list->items[i].name_hash,
			.group = list->items[i].group,
			.type = i < list->tree_nr ? OBJ_TREE : OBJ_BLOB,
		};
		int ret = emit(e, &item, err);

		if (ret < 0)
			return ret;
	}
	return 0;
}

static int emit_lists(struct enumerate *e, struct error *err)
{
	struct walk_result *result = e->result;
	struct newobj_options options = {
		.threads = e->w->history.threads,
		.memory_limit = e->options->memory_limit,
		.progress = e->options->progress,
		.union_only = !e->options->keep_lists,
		.trees_only = !takes_type(e, OBJ_BLOB),
		.grouping = e->options->grouping,
	};
	size_t nr = result->revs.nr;
	int ret = newobj_compute(&result->lists, &e->w->history,
				 result->parents_first, nr, &options, err);

	for (size_t i = 0; i < nr && !ret; i++)
		ret = emit_list(
			e, &result->lists.lists[walk_result_place(result, i)],
			err);
	if (!e->options->keep_lists)
		newobj_release(&result->lists);
	return ret;
}

/*
 * Returns whether it is enough to find the objects of the request as one set.
 * If not, the objects are found commit by commit.
 *
 * A set is enough if the caller needs only a set (set_only), and if the paths
 * of objects do not matter. Paths matter in two cases:
 * - The filter needs paths.
 * - There are boundary commits (excluded parents of listed commits), and
 *   exclude_boundary is false. Then an object is left out only if a parent has
 *   it at the same path. An object that was moved to another path is listed.
 */
static bool is_set_enough(const struct enumerate *e)
{
	return e->options->set_only && !e->has_paths &&
	       (e->options->exclude_boundary || !e->result->revs.boundary_nr);
}

static int emit_set(struct enumerate *e, struct error *err)
{
	const struct tree_closure_options options = {
		.threads = e->w->history.threads,
		.progress = e->options->progress,
		.trees_only = !takes_type(e, OBJ_BLOB),
	};

	return find_set(e, &e->result->revs, &options, &e->result->objects,
			&e->tree.seen, err);
}

static int emit_changes(struct enumerate *e, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; i < e->changes.nr && !ret; i++)
		ret = emit(e, &e->changes.items[i], err);
	return ret;
}

/*
 * Adds the objects of the commits to the result, tree by tree. Used for filters
 * that need paths.
 */
static int emit_by_path(struct enumerate *e, struct error *err)
{
	const struct history *h = &e->w->history;
	int ret = 0;

	for (size_t i = 0; i < e->result->revs.nr && !ret; i++) {
		uint32_t c = walk_result_commit(e->result, i);

		ret = emit_tree(e, h->commits[c].tree_pos, err);
	}
	return ret;
}

/*
 * Adds the trees and blobs of the commits to the result, in the order in which
 * a pack has the commits.
 */
static int emit_trees(struct enumerate *e, const struct walk_tips *wants,
		      struct error *err)
{
	struct walk_result *result = e->result;
	size_t nr = result->revs.nr;
	bool any = takes_type(e, OBJ_TREE) || takes_type(e, OBJ_BLOB);
	int ret;

	if (e->has_changes)
		return emit_changes(e, err);
	if (any && is_set_enough(e))
		return emit_set(e, err);
	result->parents_first = mem_alloc(nr, sizeof(uint32_t));
	if (!result->parents_first)
		return error_nomem(err);
	if (nr)
		memcpy(result->parents_first, result->revs.commits,
		       nr * sizeof(uint32_t));
	ret = revwalk_parents_first(&e->w->history, result->parents_first, nr,
				    wants->commits, wants->commit_nr,
				    &result->trunk_nr, err);
	if (ret < 0)
		return ret;
	if (e->has_paths)
		return emit_by_path(e, err);
	return any ? emit_lists(e, err) : 0;
}

/*
 * Finds listed objects that are missing. An object that was read, or is in a
 * pack, exists and is not looked up. Any other object is known only by an id in
 * a tree, and may be missing. Appends the ids of missing objects to *missing,
 * and sets *first to the first missing object.
 */
static int list_missing(const struct walk_item **first, struct oid **missing,
			size_t *nr, struct enumerate *e)
{
	struct walk *w = e->w;
	size_t alloc = 0;

	for (size_t i = 0; i < e->result->objects.nr; i++) {
		const struct walk_item *item = &e->result->objects.items[i];
		struct oid oid;

		if (item->obj_pos < w->space.packed_nr ||
		    (item->type == OBJ_TREE && !e->has_paths) ||
		    (item->type == OBJ_BLOB && e->options->missing_blobs))
			continue;
		objspace_oid(&oid, &w->space, item->obj_pos);
		if (odb_has_loose(w->odb, &oid) ||
		    odb_reader_has(w->reader, &oid))
			continue;
		if (mem_grow(missing, &alloc, *nr + 1, sizeof(**missing)) < 0)
			return ERR_NOMEM;
		if (!*nr)
			*first = item;
		(*missing)[(*nr)++] = oid;
	}
	return 0;
}

/*
 * Checks that all objects of the result exist. If an object is missing, asks
 * the provider (for example a fetch from a promisor remote) to store it.
 * Returns an error if the object is still missing.
 */
static int check_there(struct enumerate *e, struct error *err)
{
	struct walk *w = e->w;
	char hex[OID_MAX_HEX_LEN + 1];
	const struct walk_item *first = NULL;
	struct oid *missing = NULL;
	size_t nr = 0;
	int ret = list_missing(&first, &missing, &nr, e);

	if (ret < 0)
		error_nomem(err);
	else if (nr)
		ret = odb_reader_provide(w->reader, missing, nr, err);
	if (!ret && nr && w->odb->provider) {
		free(missing);
		missing = NULL;
		nr = 0;
		ret = list_missing(&first, &missing, &nr, e);
	}
	if (!ret && nr)
		ret = error_set(err, ERR_MISSING,
				first->type == OBJ_TREE ? "bad tree object %s"
							: "unable to read %s",
				oid_to_hex(hex, &missing[0], w->odb->algo));
	free(missing);
	return ret;
}

/* Prepares the filter of the result; does nothing if there is none. */
static int start_filter(struct enumerate *e, const struct walk_tips *wants,
			struct error *err)
{
	const struct revwalk_result *revs = &e->result->revs;
	int ret;

	if (!e->filter)
		return 0;
	ret = filtered_spared(&e->spared, e->w, wants, e->options->filter_wants,
			      err);
	if (!ret && wants->others.nr && !e->options->spare_nested)
		ret = filtered_unspare_roots(&e->spared, e->w, revs->commits,
					     revs->nr, err);
	if (ret < 0 || !filter_needs_paths(e->filter))
		return ret;
	ret = filter_walk_init(&e->paths, e->filter, &e->tree, err);
	if (filtered_may_nest(wants) && !e->options->spare_nested)
		e->paths.spared = &e->spared;
	e->has_paths = !ret;
	return ret;
}

static int enumerate_objects(struct enumerate *e, const struct walk_tips *wants,
			     const struct walk_tips *haves, struct error *err)
{
	int ret = 0;

	if (e->options->exclude_uninteresting && haves->commit_nr)
		ret = exclude_uninteresting(e, haves, err);
	if (!ret)
		ret = take_others(e, &haves->others, true, err);
	if (!ret && e->options->exclude_boundary &&
	    !e->result->uninteresting.bits)
		ret = exclude_boundary(e, err);
	if (!ret)
		ret = start_filter(e, wants, err);
	if (!ret)
		ret = take_others(e, &wants->others, false, err);
	e->paths.spared = NULL;
	if (!ret)
		ret = emit_trees(e, wants, err);
	if (!ret && e->filter)
		ret = filtered_result(e->result, e->w, e->filter, &e->spared,
				      err);
	if (!ret)
		ret = check_there(e, err);
	return ret;
}

int walk_enumerate_commits(struct walk_result *result, struct walk *w,
			   const struct walk_tips *wants,
			   const struct walk_tips *haves,
			   const struct walk_options *options,
			   struct error *err)
{
	struct enumerate e = {
		.w = w,
		.options = options,
		.result = result,
		.filter = filter_is_empty(options->filter) ? NULL
							   : options->filter,
	};
	int ret;

	if (options->threads)
		w->history.threads = options->threads;
	if (!options->objects)
		return 0;
	if (treewalk_init(&e.tree, &w->space, w->reader) < 0)
		ret = error_nomem(err);
	else
		ret = enumerate_objects(&e, wants, haves, err);
	if (e.has_paths)
		filter_walk_release(&e.paths);
	treewalk_release(&e.tree);
	bitset_release(&e.spared);
	free(e.changes.items);
	return ret;
}

int walk_enumerate(struct walk_result *result, struct walk *w,
		   const struct walk_tips *wants, const struct walk_tips *haves,
		   const struct walk_options *options, struct error *err)
{
	struct revwalk_tips tips = {
		wants->commits,
		wants->commit_nr,
		haves->commits,
		haves->commit_nr,
	};
	int ret;

	if (options->threads)
		w->history.threads = options->threads;
	ret = revwalk_run(&result->revs, &w->history, &tips,
			  options->exact_commits, err);
	return ret < 0 ? ret
		       : walk_enumerate_commits(result, w, wants, haves,
						options, err);
}
