/* SPDX-License-Identifier: MIT */
/*
 * git rev-list: one run of the command, and how it shows what it finds.
 * Arguments and strategy: rev-list.c; objects one by one: rev-list-objects.c
 */
#ifndef BUILTIN_REV_LIST_H
#define BUILTIN_REV_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "builtin/filterargs.h"
#include "builtin/revargs.h"
#include "ewah/bitset.h"
#include "walk/promisor.h"
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

struct rev_list_run {
	struct rev_list_options o;
	struct filter_args filter;
	struct odb *odb;
	struct refs *refs;
	struct rev_args args;
	struct walk walk;
	bool has_walk;
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

/* Show a commit, if the filter lets it through. */
int rev_list_show_commit(struct rev_list_run *r, uint32_t commit_nr);

#endif
