/* SPDX-License-Identifier: MIT */
/* What the parts of fsck.c share: one run of the command. */
#ifndef BUILTIN_FSCK_PARTS_H
#define BUILTIN_FSCK_PARTS_H

#include "builtin/stderr-progress.h"
#include "builtin/store.h"
#include "check/fsck-links.h"
#include "check/promisor.h"

/* The exit code, bit by bit; stock Git's. */
enum {
	FSCK_FOUND_OBJECT = 1 << 0,       /* an object is wrong */
	FSCK_FOUND_REACHABLE = 1 << 1,    /* something is missing */
	FSCK_FOUND_PACK = 1 << 2,         /* a pack or its index */
	FSCK_FOUND_REFS = 1 << 3,         /* a reference */
	FSCK_FOUND_COMMIT_GRAPH = 1 << 4, /* a commit-graph */
	FSCK_FOUND_MIDX = 1 << 5,         /* a multi-pack-index */
	FSCK_FOUND_REV = 1 << 6,          /* a reverse index */
	FSCK_FOUND_BITMAP = 1 << 7,       /* a bitmap index */
};

struct fsck_args {
	bool unreachable, dangling, tags, root, cache, reflogs, full;
	bool connectivity_only, strict, verbose, lost_found;
	bool progress, no_progress, references, name_objects;
};

struct fsck_run {
	struct fsck_args a;
	struct store s;
	struct fsck_rules rules;
	struct walk walk;
	struct fsck_scan scan;
	struct promisor promisor;
	struct fsck_names names; /* with a.name_objects */
	struct buf shown;        /* an object, as it is spoken of */
	unsigned found;          /* FSCK_FOUND_*: the exit code */
	struct error *err;
};

/* Check what refs are kept in, as `git refs verify` does; prints. */
void fsck_check_refs(struct fsck_run *r);

/* Name what is among loose objects and is none; prints, and is no error. */
void fsck_name_strangers(struct fsck_run *r);

/*
 * Whether a remote has promised an object, so that it may be missing. What
 * cannot be found out was not promised.
 */
bool fsck_is_promised(struct fsck_run *r, const struct oid *oid);

/*
 * Collect the roots (those of `names`, or if there are none references,
 * reflogs and indexes), find what they reach, print what is missing and what is
 * left over. 0 or a negative error.
 */
int fsck_check_links(struct fsck_run *r, const char **names, int name_nr);

/*
 * Check packs, indexes, reverse indexes, bitmaps, the multi-pack-index and the
 * commit-graph as files; prints.
 */
void fsck_check_files(struct fsck_run *r);

#endif
