/* SPDX-License-Identifier: MIT */
/*
 * From a request (ids to reach, ids not to reach) to the list of objects,
 * without bitmaps.
 *
 * A `struct walk` is the working state of one request or command: object
 * numbers, commits loaded so far, one reader. One thread.
 */
#ifndef WALK_WALK_H
#define WALK_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "object/oidmap.h"
#include "odb/odb.h"
#include "walk/filter.h"
#include "walk/history.h"
#include "walk/newobj.h"
#include "walk/objspace.h"
#include "walk/revwalk.h"

struct walk {
	const struct odb *odb; /* borrowed */
	struct objspace space;
	struct odb_reader *reader; /* owned */
	struct history history;
	struct oidmap shallow; /* commits without parents */
};

/*
 * Prepare. `shallow`: ids of commits to treat as having no parents, besides
 * those of the repository's own shallow file. On failure *w is released.
 */
int walk_open(struct walk *w, const struct odb *odb, const struct oid *shallow,
	      size_t shallow_nr, struct error *err);
void walk_close(struct walk *w);

/* An object with what the delta search and the hash cache want to know. */
struct walk_item {
	uint32_t obj_pos;
	uint32_t name_hash; /* of one of its paths; 0 for commits and tags */
	uint32_t group;     /* of that path, as options.grouping says */
	uint8_t type;       /* enum object_type */
};

struct walk_items {
	struct walk_item *items; /* owned */
	size_t nr, alloc;
};

int walk_items_append(struct walk_items *list, uint32_t obj_pos,
		      enum object_type type, uint32_t name_hash);

/* Append an item that was found. 0 or ERR_NOMEM. */
int walk_items_add(struct walk_items *list, const struct walk_item *item);

/* A tip sorted by what it is: tags are followed. */
struct walk_tips {
	uint32_t *commits; /* owned: commit_nr */
	size_t commit_nr, commit_alloc;
	struct walk_items others; /* tags passed on the way, trees, blobs */
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
 * Add an id to the tips. `lenient` (haves): an object that is not there, or
 * broken, is left out and 0 returned.
 */
int walk_add_tip(struct walk *w, struct walk_tips *tips, const struct oid *oid,
		 bool lenient, struct error *err);

/*
 * As walk_add_tip(), not lenient, but a commit is not read, only looked for:
 * a bitmap may say all about it, and who walks from it reads it.
 */
int walk_add_tip_unread(struct walk *w, struct walk_tips *tips,
			const struct oid *oid, struct error *err);

/* The same for what is known to be a commit. */
int walk_add_commit_unread(struct walk *w, struct walk_tips *tips,
			   uint32_t obj_pos, struct error *err);

/* How to enumerate. */
struct walk_options {
	bool objects; /* trees, blobs and tags too; else commits only */
	/*
	 * Leave out everything that is in a boundary commit's tree at any path,
	 * as `git rev-list --objects` does. Without it objects that merely
	 * moved are listed again.
	 */
	bool exclude_boundary;
	/*
	 * Leave out everything that the haves reach, and note it in the result,
	 * where that can be found and is not much more than what is wanted.
	 */
	bool exclude_uninteresting;
	/*
	 * With exclude_uninteresting and set_only, where little is new: what
	 * differs from the newest commit that is had, place by place
	 * (tree-changes.h). Only what is had in these places is noted, and what
	 * is had elsewhere, a file that was copied or changed back, is listed.
	 */
	bool use_tree_changes;
	bool exact_commits; /* see revwalk.h */
	bool keep_lists;    /* fill in result->lists */
	bool missing_blobs; /* list blobs that are not there, too */
	/*
	 * Only which objects is wanted: they come in no order, without name
	 * hash and group, and parents_first is not made. The cheapest way to
	 * enumerate a whole history. Not with keep_lists.
	 */
	bool set_only;
	enum name_grouping grouping; /* of what is found */
	/*
	 * What the result leaves out, but for the wants themselves; with
	 * filter_wants these as well. NULL: nothing. Not with keep_lists.
	 */
	const struct filter *filter;
	bool filter_wants;
	unsigned threads;      /* 0: as many as processors */
	uint64_t memory_limit; /* with keep_lists: as in newobj.h */
	const struct progress_out *progress; /* NULL: none */
};

struct walk_result {
	struct revwalk_result revs;  /* commits newest first, and boundary */
	struct walk_items objects;   /* tags; then trees and blobs in the order
					of their commits in a pack; each once */
	uint32_t *parents_first;     /* owned: the commits branch by branch, in
					the order of `lists` */
	size_t trunk_nr;             /* how many of these the first want
					reaches; they come first */
	struct newobj_set lists;     /* new(c); only with keep_lists */
	struct bitset uninteresting; /* by obj_pos: trees and blobs that
			      exclude_uninteresting has left out; no words: it
			      was not done */
};

#define WALK_RESULT_INIT                                                       \
	{                                                                      \
		REVWALK_RESULT_INIT, {NULL, 0, 0}, NULL, 0, NEWOBJ_SET_INIT,   \
			BITSET_INIT                                            \
	}

void walk_result_release(struct walk_result *result);

/*
 * The place in parents_first of the i-th commit of a pack: the trunk from its
 * newest commit to its oldest, then the other branches. What a commit reaches
 * then lies in few runs, so that bitmaps over a pack of this order are small.
 * Only after an enumeration with objects and without set_only.
 */
static inline size_t walk_result_place(const struct walk_result *result,
				       size_t i)
{
	size_t trunk_nr = result->trunk_nr;

	return i < trunk_nr ? trunk_nr - 1 - i
			    : result->revs.nr - 1 - (i - trunk_nr);
}

/* The i-th commit (commit_nr) of a pack. */
static inline uint32_t walk_result_commit(const struct walk_result *result,
					  size_t i)
{
	return result->parents_first[walk_result_place(result, i)];
}

/*
 * Enumerate what `wants` reach and `haves` do not. Objects behind haves other
 * than commits (a tag's tree, a blob) are excluded too. An object that cannot
 * be found is ERR_MISSING.
 */
int walk_enumerate(struct walk_result *result, struct walk *w,
		   const struct walk_tips *wants, const struct walk_tips *haves,
		   const struct walk_options *options, struct error *err);

/*
 * The same where the caller has found out which commits: result->revs has them,
 * parsed and in any order, and their boundary, and no other commit is looked
 * at.
 */
int walk_enumerate_commits(struct walk_result *result, struct walk *w,
			   const struct walk_tips *wants,
			   const struct walk_tips *haves,
			   const struct walk_options *options,
			   struct error *err);

#endif
