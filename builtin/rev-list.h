/* SPDX-License-Identifier: MIT */
/*
 * git rev-list: the state of one run, and the parts of the command:
 *
 *   rev-list.c          chooses between bitmaps and walking
 *   rev-list-args.c     parses arguments
 *   rev-list-pick.c     selects commits by side and by number of parents
 *   rev-list-history.c  history limited by paths, parents, boundaries, orders
 *   rev-list-objects.c  lists objects one by one
 */
#ifndef BUILTIN_REV_LIST_H
#define BUILTIN_REV_LIST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

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
	/* <format> of --disk-usage=<format> if it is wrong, otherwise NULL */
	const char *bad_disk_usage;
	bool filter_provided;
	bool print_omitted;
	bool exclude_promisor;
	enum rev_list_missing missing;
	uint64_t max_count; /* UINT64_MAX: no limit */
	uint64_t skip;
};

/* Options for which the history is simplified or sorted. */
struct rev_list_history {
	/*
	 * true: at least one option about simplifying or sorting the history is
	 * given
	 */
	bool is_asked;
	struct simplify_options o;
	/*
	 * true: commits are shown in the order o.order, because of --topo-order
	 * or --simplify-merges
	 */
	bool topo;
	bool by_date;
	bool print_parents;
	struct pathspec paths;
	/* the commits of --ancestry-path=<commit> */
	struct rev_list through;
	struct walk_tips through_tips;
	/* the simplified history, while it is being shown; otherwise NULL */
	struct simplify *simplify;
};

#define REV_LIST_HISTORY_INIT                                                  \
	{                                                                      \
		.through_tips = WALK_TIPS_INIT                                 \
	}

/*
 * Options that choose which of the found commits are shown. With --left-right,
 * a mark is shown, too.
 */
struct rev_list_pick {
	/* --left-right: mark each commit with its side */
	bool left_right;
	bool left_only, right_only;
	uint32_t min_parents, max_parents; /* UINT32_MAX: no limit */
	/*
	 * Indexed by commit_nr: the commits on the left side. Filled only if an
	 * option needs the sides.
	 */
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
	/* the lines read from standard input, kept for stock Git */
	struct buf input;
	/*
	 * the promised objects; used only if an option about promisor objects
	 * is given
	 */
	struct promisor promisor;
	struct walk_tips wants, haves;
	/*
	 * Owned array of borrowed strings: want_paths[i] is the path by which
	 * wants.others[i] was named.
	 */
	const char **want_paths;
	size_t want_path_alloc;
	/*
	 * Indexed by obj_pos: the objects to which the filter does not apply.
	 */
	struct bitset unfiltered;
	/*
	 * indexed by obj_pos: missing objects that have a line in `missing`
	 * already
	 */
	struct bitset missed;
	/* the lines that --filter-print-omitted prints at the end */
	struct buf omitted;
	/* the lines that --missing=print prints at the end */
	struct buf missing;
	/* number of shown objects, for --count */
	uint64_t shown;
	/* stored size in bytes of the shown objects, for --disk-usage */
	uint64_t disk_bytes;
	struct error *err;
};

/* ---- rev-list-args.c */

/*
 * Parse the arguments. Returns 0 on success, or a negative error code;
 * ERR_UNSUPPORTED means that stock Git must run. If an error was printed
 * already, returns the exit code.
 */
int rev_list_parse(struct rev_list_run *r, const char **argv);

/* Returns whether it is an error if an argument names a missing object. */
bool rev_list_must_exist(const struct rev_list_run *r);

/* Print the usage to `out`. Returns 129. */
int rev_list_usage(FILE *out);

/* ---- rev-list-pick.c */

/*
 * Parse an option that selects commits by their side (left or right of A...B)
 * or by their number of parents. Returns 1 if the argument is such an option, 0
 * if it is another option, 128 after printing an error, or a negative error
 * code.
 */
int rev_list_parse_pick(struct rev_list_run *r, const char *arg);

/* Returns whether the options may exclude a commit that the walk finds. */
bool rev_list_pick_leaves_out(const struct rev_list_pick *pick);

/*
 * Prepare the selection of commits by their side (left or right of A...B). Call
 * this when the tips are known. Returns 0 or a negative error code.
 */
int rev_list_open_pick(struct rev_list_run *r);

/* Remove from the list the commits that the options exclude. */
void rev_list_pick(const struct rev_list_run *r, struct revwalk_result *revs);

/*
 * rev_list_count_side() adds a commit to the count of its side of a symmetric
 * difference. rev_list_print_side() prints the mark of a commit, or nothing if
 * commits are not marked.
 */
void rev_list_count_side(struct rev_list_run *r, uint32_t commit_nr);
void rev_list_print_side(const struct rev_list_run *r, uint32_t commit_nr);

/* ---- rev-list-history.c */

/*
 * Parse an option about history. Returns 1 if the argument is such an option, 0
 * if it is another option, 128 after printing an error, or a negative error
 * code.
 */
int rev_list_parse_history(struct rev_list_run *r, const char *arg);

/*
 * Check that the options parsed so far can be combined. May be called again
 * after further options. Returns 0 or a negative error code.
 */
int rev_list_check_history(struct rev_list_run *r);

/*
 * Show the history as the options in r->history say. Returns 0 or a negative
 * error code.
 */
int rev_list_history(struct rev_list_run *r);

void rev_list_history_release(struct rev_list_history *history);

/* ---- rev-list-objects.c */

/*
 * Show an object: print its id and `name`, which may be NULL, or only count it.
 * Does nothing if --unpacked excludes the object. Returns 0 or a negative error
 * code.
 */
int rev_list_show(struct rev_list_run *r, uint32_t obj_pos, const char *name);

/*
 * Show the trees and blobs that the wants and `nr` commits reach, in Git's
 * order. Trees and blobs are shown with their paths, and tags with their names.
 * With --in-commit-order, each commit is shown before its tree. The trees of
 * the commits in `boundary`, and all objects in these trees, are not shown.
 * Returns 0 or a negative error code.
 */
int rev_list_show_objects(struct rev_list_run *r, const uint32_t *commits,
			  size_t nr, const uint32_t *boundary,
			  size_t boundary_nr);

/*
 * Called if the tip `oid` could not be read and --missing allows missing
 * objects. `code` is the error code. Records the missing object: the tip, or
 * the object at the end of a chain of tags. As in stock Git, the target of an
 * excluded tag is not recorded. Returns 0, or `code` if no object is missing,
 * or another negative error code.
 */
int rev_list_miss_tip(struct rev_list_run *r, const struct oid *oid,
		      bool is_excluded, int code);

/*
 * Show a commit if it passes the filter: its mark, its id, and the ids that
 * --parents or --children add. Returns 0 or a negative error code.
 */
int rev_list_show_commit(struct rev_list_run *r, uint32_t commit_nr);

#endif
