/* SPDX-License-Identifier: MIT */
/*
 * Lists the objects of a request (ids to reach, ids not to reach) by walking,
 * without bitmaps.
 *
 * A `struct walk` is the working state of one request or command: object
 * numbers, the commits loaded so far, and one reader. A struct walk is used by
 * one thread.
 */
#ifndef WALK_WALK_H
#define WALK_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "object/oidmap.h"
#include "odb/odb.h"
#include "trees/objspace.h"
#include "trees/walk-items.h"
#include "walk/filter.h"
#include "walk/history.h"
#include "walk/newobj.h"
#include "walk/revwalk.h"

struct walk {
	const struct odb *odb; /* borrowed */
	struct objspace space;
	struct odb_reader *reader; /* owned */
	struct history history;
	/*
	 * ids of commits that are treated as having no parents (the shallow
	 * boundary)
	 */
	struct oidmap shallow;
};

/*
 * Opens a walk. Two kinds of commits are treated as having no parents: those in
 * the repository's own shallow file, and those in `shallow`. w->history.threads
 * is pack.threads; an invalid value counts as 0. Returns 0 or a negative error
 * code; on failure *w is released.
 */
int walk_open(struct walk *w, const struct odb *odb, const struct oid *shallow,
	      size_t shallow_nr, struct error *err);
void walk_close(struct walk *w);

/*
 * Tips of a walk, sorted by type. A tag is followed to the object that the tag
 * names.
 */
struct walk_tips {
	/* owned: commit_nr of the commits among the tips */
	uint32_t *commits;
	size_t commit_nr, commit_alloc;
	/*
	 * owned: tips that are not commits: trees, blobs, and the tags that
	 * lead to commits, trees or blobs
	 */
	struct walk_items others;
};

#define WALK_TIPS_INIT                                                         \
	{                                                                      \
		NULL, 0, 0,                                                    \
		{                                                              \
			NULL, 0, 0                                             \
		}                                                              \
	}

void walk_tips_release(struct walk_tips *tips);

/*
 * Adds an id to the tips. With `lenient` (for haves), a missing or broken
 * object is left out, which is no error. Returns 0 or a negative error code.
 */
int walk_add_tip(struct walk *w, struct walk_tips *tips, const struct oid *oid,
		 bool lenient, struct error *err);

/*
 * Adds an excluded id to the tips like walk_add_tip() with `lenient` false. But
 * if the target of a tag is missing, this is no error: the target then excludes
 * nothing, as in stock Git. Returns 0 or a negative error code.
 */
int walk_add_excluded_tip(struct walk *w, struct walk_tips *tips,
			  const struct oid *oid, struct error *err);

/*
 * Adds an id to the tips like walk_add_tip() with `lenient` false, but does not
 * read the object if it is a commit. If a bitmap says what the commit reaches,
 * the commit need not be read at all. Otherwise the walk reads it later.
 * Returns 0 or a negative error code.
 */
int walk_add_tip_unread(struct walk *w, struct walk_tips *tips,
			const struct oid *oid, struct error *err);

/*
 * Adds an object that is known to be a commit, without reading the commit.
 * Returns 0 or a negative error code.
 */
int walk_add_commit_unread(struct walk *w, struct walk_tips *tips,
			   uint32_t obj_pos, struct error *err);

/* Options of walk_enumerate(). */
struct walk_options {
	/*
	 * true: list commits, trees, blobs and tags; false: list only commits
	 */
	bool objects;
	/*
	 * true: leave out each object that a boundary commit's tree has at any
	 * path, as `git rev-list --objects` does. false: an object that only
	 * moved to another path is listed again.
	 */
	bool exclude_boundary;
	/*
	 * true: leave out all objects that the haves reach, and put them into
	 * the result's `uninteresting`. Has an effect only if the haves'
	 * history can be read and is not much longer than the wanted history.
	 */
	bool exclude_uninteresting;
	/*
	 * Has an effect only if both exclude_uninteresting and set_only are
	 * set. true: if few commits are wanted, their trees are compared path
	 * by path with the tree of the newest uninteresting commit
	 * (trees/tree-changes.c). This costs less than reading all trees of the
	 * uninteresting commits.
	 *
	 * The result's `uninteresting` is then incomplete: it has the objects
	 * that this tree has at the changed paths, and no others. So some
	 * objects are listed, although the client has them. Examples are a file
	 * that was copied to a second path, and a file that was changed back to
	 * an older version.
	 */
	bool use_tree_changes;
	bool exact_commits; /* see revwalk.h */
	/*
	 * true: also fill in result->lists, the new-object lists of the commits
	 */
	bool keep_lists;
	/*
	 * true: list wanted blobs even if they are missing; false: a missing
	 * blob is an error
	 */
	bool missing_blobs;
	/*
	 * true: the caller needs only the set of objects. The objects come in
	 * no order, without path hash and path group, and result->parents_first
	 * is not filled in. A set is the cheapest result for a whole history.
	 * Not allowed with keep_lists.
	 */
	bool set_only;
	/* how walk_item.group is computed (object/path-group.h) */
	enum path_grouping grouping;
	/*
	 * The filter of the result; NULL: none. A filter is not allowed with
	 * keep_lists.
	 *
	 * If filter_wants is set, wants are filtered like other objects. If
	 * filter_wants is not set, wants are in the result even if they do not
	 * pass the filter. As in stock Git, two kinds of wants are filtered
	 * nevertheless: a want that is also the root tree of a listed commit,
	 * and a want that is also an entry of an earlier wanted tree. If
	 * spare_nested is set, these wants are not filtered either.
	 */
	const struct filter *filter;
	bool filter_wants;
	bool spare_nested;
	/* number of threads; 0: the number that the walk's history uses */
	unsigned threads;
	/*
	 * Maximum number of bytes for the new-object lists (see newobj.h). Only
	 * used if keep_lists is set.
	 */
	uint64_t memory_limit;
	const struct progress_out *progress; /* NULL: none */
};

struct walk_result {
	/* the selected commits, newest first, and their boundary */
	struct revwalk_result revs;
	/*
	 * First tags, then trees and blobs, each object once. Trees and blobs
	 * are grouped by the commit that added them. The commits are in the
	 * order in which a pack stores commits (walk_result_place()). If the
	 * option `set_only` is set, the objects have no order.
	 */
	struct walk_items objects;
	/*
	 * owned: the selected commits (commit_nr), parents first, branch by
	 * branch; the field `lists` has the same order
	 */
	uint32_t *parents_first;
	/*
	 * number of commits that the first want reaches (the trunk); they come
	 * first in parents_first
	 */
	size_t trunk_nr;
	/*
	 * the new-object lists (walk/newobj.h) of the selected commits; filled
	 * in only with options->keep_lists
	 */
	struct newobj_set lists;
	/*
	 * Indexed by obj_pos: trees and blobs that exclude_uninteresting has
	 * left out. The set is empty, without memory, if nothing was left out.
	 */
	struct bitset uninteresting;
};

#define WALK_RESULT_INIT                                                       \
	{                                                                      \
		REVWALK_RESULT_INIT, {NULL, 0, 0}, NULL, 0, NEWOBJ_SET_INIT,   \
			BITSET_INIT                                            \
	}

void walk_result_release(struct walk_result *result);

/*
 * Translates an index of a commit between two orders. `i` is the index in the
 * order in which a pack stores commits. Returns the index of the same commit in
 * result->parents_first.
 *
 * A pack first has the trunk (the commits that the first want reaches) from
 * newest to oldest, then the other branches. In this order, the objects that
 * one commit reaches form few runs, so the bitmaps over the pack are small.
 *
 * May be called only after an enumeration with the option `objects` and without
 * the option `set_only`, because `set_only` leaves parents_first empty.
 */
static inline size_t walk_result_place(const struct walk_result *result,
				       size_t i)
{
	size_t trunk_nr = result->trunk_nr;

	return i < trunk_nr ? trunk_nr - 1 - i
			    : result->revs.nr - 1 - (i - trunk_nr);
}

/*
 * Returns the commit_nr of the commit that has the index `i` in the order in
 * which a pack stores commits.
 */
static inline uint32_t walk_result_commit(const struct walk_result *result,
					  size_t i)
{
	return result->parents_first[walk_result_place(result, i)];
}

/*
 * Lists the objects that `wants` reach and `haves` do not. Haves may be objects
 * other than commits: a blob, or the tree that a tag names. Returns 0,
 * ERR_MISSING if a wanted object cannot be found, or another negative error
 * code.
 */
int walk_enumerate(struct walk_result *result, struct walk *w,
		   const struct walk_tips *wants, const struct walk_tips *haves,
		   const struct walk_options *options, struct error *err);

/*
 * Lists the objects like walk_enumerate() for commits that the caller has
 * selected. result->revs holds these commits, parsed and in any order, and
 * their boundary. No other commit is read. Returns 0 or a negative error code.
 */
int walk_enumerate_commits(struct walk_result *result, struct walk *w,
			   const struct walk_tips *wants,
			   const struct walk_tips *haves,
			   const struct walk_options *options,
			   struct error *err);

/*
 * Checks that all objects of a list exist. An enumeration reads the commits and
 * trees that it lists, but no blobs. Returns 0, or ERR_MISSING with the id of
 * the first missing object.
 */
int walk_check_items(struct walk *w, const struct walk_items *items,
		     struct error *err);

#endif
