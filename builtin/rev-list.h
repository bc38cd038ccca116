/* SPDX-License-Identifier: MIT */
/*
 * git rev-list: the state of one run, and the parts of the command:
 *
 *   rev-list.c          the strategy: bitmaps or walking
 *   rev-list-args.c     arguments
 *   rev-list-pick.c     commits by their side and their number of parents
 *   rev-list-history.c  history limited by paths, parents, boundaries, orders
 *   rev-list-objects.c  objects one by one
 */
#ifndef BUILTIN_REV_LIST_H
#define BUILTIN_REV_LIST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
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
	uint64_t max_count; /* UINT64_MAX: no limit */
	uint64_t skip;
};

/* Options that need the history to be simplified or sorted. */
struct rev_list_history {
	/* whether any of these options is given */
	bool is_asked;
	struct simplify_options o;
	/* o.order is needed, for this option or for --simplify-merges */
	bool topo;
	bool by_date;
	bool print_parents;
	struct pathspec paths;
	/* commits of --ancestry-path=<commit> */
	struct rev_list through;
	struct walk_tips through_tips;
	/* the walk, while it exists */
	struct simplify *simplify;
};

#define REV_LIST_HISTORY_INIT                                                  \
	{                                                                      \
		.through_tips = WALK_TIPS_INIT                                 \
	}

/* Which commits are shown, and their marks. */
struct rev_list_pick {
	/* mark each commit with its side */
	bool left_right;
	bool left_only, right_only;
	uint32_t min_parents, max_parents; /* UINT32_MAX: no limit */
	/* by commit_nr: commits on the left side, if needed */
	struct bitset left;
	/* number of shown commits on the left side */
	uint64_t left_nr;
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
	/* the lines that were read from standard input, for stock Git */
	struct buf input;
	/* used if an option needs it */
	struct promisor promisor;
	struct walk_tips wants, haves;
	/* owned array, parallel to wants.others, of borrowed strings */
	const char **want_paths;
	/* by obj_pos: objects that the filter does not apply to */
	struct bitset unfiltered;
	/* lines for --filter-print-omitted */
	struct buf omitted;
	/* lines for --missing=print */
	struct buf missing;
	/* number of shown objects, for --count */
	uint64_t shown;
	/* stored size of these, for --disk-usage */
	uint64_t disk_bytes;
	struct error *err;
};

/* ---- rev-list-args.c */

/*
 * Parse the arguments. Returns 0, an exit code after an error was printed, or a
 * negative error code. ERR_UNSUPPORTED means that stock Git must run.
 */
int rev_list_parse(struct rev_list_run *r, const char **argv);

/* Prints the usage on `out`. Returns 129. */
int rev_list_usage(FILE *out);

/* ---- rev-list-pick.c */

/* Parse an option of this file. Returns as rev_list_parse_history(). */
int rev_list_parse_pick(struct rev_list_run *r, const char *arg);

/* Whether some commits that would be listed are not shown. */
bool rev_list_pick_leaves_out(const struct rev_list_pick *pick);

/*
 * Prepare the selection after the tips are known. Returns 0 or a negative error
 * code.
 */
int rev_list_open_pick(struct rev_list_run *r);

/* Remove the commits that are not shown from the list. */
void rev_list_pick(const struct rev_list_run *r, struct revwalk_result *revs);

/* Count a commit on its side; print the mark of a commit if it has one. */
void rev_list_count_side(struct rev_list_run *r, uint32_t commit_nr);
void rev_list_print_side(const struct rev_list_run *r, uint32_t commit_nr);

/* ---- rev-list-history.c */

/*
 * Parse an option about history. Returns 1, 0 if the option is another one, 128
 * after an error was printed, or a negative error code.
 */
int rev_list_parse_history(struct rev_list_run *r, const char *arg);

/*
 * Check that the options so far go together; called again when more are known.
 * Returns 0 or a negative error code.
 */
int rev_list_check_history(struct rev_list_run *r);

/* List the history as history.o says. Returns 0 or a negative error code. */
int rev_list_history(struct rev_list_run *r);

void rev_list_history_release(struct rev_list_history *history);

/* ---- rev-list-objects.c */

/*
 * Print an object or count it. `name` may be NULL. Does nothing for objects
 * that --unpacked excludes. Returns 0 or a negative error code.
 */
int rev_list_show(struct rev_list_run *r, uint32_t obj_pos, const char *name);

/*
 * Show the trees and blobs of the wants and of `nr` commits, in Git's order.
 * Trees and blobs are shown with paths, tags with their names. With
 * --in-commit-order, the commits are shown, too, each before its tree.
 * `boundary`: commits whose trees are excluded. Returns 0 or a negative error
 * code.
 */
int rev_list_show_objects(struct rev_list_run *r, const uint32_t *commits,
			  size_t nr, const uint32_t *boundary,
			  size_t boundary_nr);

/* Note that a tip is missing. Returns 0 or a negative error code. */
int rev_list_miss_tip(struct rev_list_run *r, const struct oid *oid);

/*
 * Show a commit if the filter lets it pass: its mark, its id, and the ids that
 * --parents or --children add. Returns 0 or a negative error code.
 */
int rev_list_show_commit(struct rev_list_run *r, uint32_t commit_nr);

#endif
