/* SPDX-License-Identifier: MIT */
/*
 * git rev-list: one run of the command, and how it shows what it finds.
 *
 *   rev-list.c          strategy: by bitmaps or by walking
 *   rev-list-args.c     arguments
 *   rev-list-pick.c     commits by their side and the number of parents
 *   rev-list-history.c  history limited by paths, parents, boundaries, orders
 *   rev-list-objects.c  objects one by one
 */
#ifndef BUILTIN_REV_LIST_H
#define BUILTIN_REV_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "builtin/filterargs.h"
#include "builtin/revargs.h"
#include "check/promisor.h"
#include "ewah/bitset.h"
#include "simplify/simplify.h"
#include "walk/walk.h"

enum rev_list_missing {
	MISSING_ERROR,
	MISSING_ALLOW_ANY,
	MISSING_ALLOW_PROMISOR,
	MISSING_PRINT,
	MISSING_PRINT_INFO,
};

struct rev_list_options {
	bool objects;
	bool no_object_names;
	bool count;
	bool use_bitmap;
	bool test_bitmap;
	bool quiet;
	bool reverse;
	bool read_stdin;
	bool unpacked;
	bool in_commit_order;
	bool disk_usage, disk_usage_human;
	bool filter_provided;
	bool print_omitted;
	bool exclude_promisor;
	enum rev_list_missing missing;
	uint64_t max_count; /* UINT64_MAX: all */
	uint64_t skip;
};

/* What needs history to be simplified, or put in order. */
struct rev_list_history {
	bool is_asked; /* whether any of this is */
	struct simplify_options o;
	bool topo; /* o.order is wanted: set by it, and by --simplify-merges */
	bool by_date;
	bool print_parents;
	struct pathspec paths;
	struct rev_list through; /* of --ancestry-path=<commit> */
	struct walk_tips through_tips;
	struct simplify *simplify; /* the walk, while there is one */
};

#define REV_LIST_HISTORY_INIT                                                  \
	{                                                                      \
		.through_tips = WALK_TIPS_INIT                                 \
	}

/* Which commits are shown, and how they are marked. */
struct rev_list_pick {
	bool left_right; /* mark each with its side */
	bool left_only, right_only;
	uint32_t min_parents, max_parents; /* UINT32_MAX: any number */
	struct bitset left; /* by commit_nr: on the left side, where that is
			       asked for */
	uint64_t left_nr;   /* of those that were shown */
};

#define REV_LIST_PICK_INIT                                                     \
	{                                                                      \
		.max_parents = UINT32_MAX, .left = BITSET_INIT                 \
	}

struct rev_list_run {
	struct rev_list_options o;
	struct rev_list_history history;
	struct rev_list_pick pick;
	struct filter_args filter;
	struct odb *odb;
	struct refs *refs;
	struct rev_args args;
	struct walk walk;
	bool has_walk;
	bool has_read; /* standard input: too late for the stock Git */
	struct promisor promisor; /* where an option asks for it */
	struct walk_tips wants, haves;
	const char **want_paths; /* owned: of wants.others, borrowed strings */
	struct bitset spared;    /* by obj_pos: shown whatever the filter */
	struct buf omitted;      /* lines for --filter-print-omitted */
	struct buf missing;      /* lines for --missing=print */
	uint64_t shown;          /* objects, for --count */
	uint64_t disk_bytes;     /* of them, for --disk-usage */
	struct error *err;
};

/* ---- rev-list-args.c */

/*
 * 0, 129 after a usage error, or negative; ERR_UNSUPPORTED, unless r->has_read,
 * is for the stock Git.
 */
int rev_list_parse(struct rev_list_run *r, const char **argv);

/* Print how to use it; 129. */
int rev_list_usage(void);

/* ---- rev-list-pick.c */

/* As rev_list_parse_history(). */
int rev_list_parse_pick(struct rev_list_run *r, const char *arg);

/* Whether there are commits that would be listed, and are not. */
bool rev_list_pick_leaves_out(const struct rev_list_pick *pick);

/* The tips are known. 0 or negative. */
int rev_list_open_pick(struct rev_list_run *r);

/* Take those off the list that are not shown. */
void rev_list_pick(const struct rev_list_run *r, struct revwalk_result *revs);

/* A commit is counted; its mark is printed, if it gets one. */
void rev_list_count_side(struct rev_list_run *r, uint32_t commit_nr);
void rev_list_print_side(const struct rev_list_run *r, uint32_t commit_nr);

/* ---- rev-list-history.c */

/* Take an option that this is about: 1, 0 when it is none, or negative. */
int rev_list_parse_history(struct rev_list_run *r, const char *arg);

/*
 * Whether the arguments that are known go together; again when there are more.
 * 0 or negative.
 */
int rev_list_check_history(struct rev_list_run *r);

/* List what history.o asks for. 0 or negative. */
int rev_list_history(struct rev_list_run *r);

void rev_list_history_release(struct rev_list_history *history);

/* ---- rev-list-objects.c */

/*
 * Show an object: print it, or add it to what is counted. `name` NULL: none.
 * Passes over what --unpacked leaves out. 0 or negative.
 */
int rev_list_show(struct rev_list_run *r, uint32_t obj_pos, const char *name);

/*
 * Show the trees and blobs of the wants and of `nr` commits, in Git's order,
 * with paths, tags under their names; with --in-commit-order the commits as
 * well, each before its tree. `boundary`: commits whose trees are excluded.
 */
int rev_list_show_objects(struct rev_list_run *r, const uint32_t *commits,
			  size_t nr, const uint32_t *boundary,
			  size_t boundary_nr);

/* Note that a tip is not there. 0 or negative. */
int rev_list_miss_tip(struct rev_list_run *r, const struct oid *oid);

/*
 * Show a commit, if the filter lets it through: its mark, its id, and behind it
 * what --parents or --children ask for. Returns 0 or negative.
 */
int rev_list_show_commit(struct rev_list_run *r, uint32_t commit_nr);

#endif
