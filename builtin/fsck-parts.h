/* SPDX-License-Identifier: MIT */
/* The state of one run of git fsck, and the functions of its parts. */
#ifndef BUILTIN_FSCK_PARTS_H
#define BUILTIN_FSCK_PARTS_H

#include "builtin/output.h"
#include "builtin/store.h"
#include "check/fsck-objects.h"
#include "check/promisor.h"

/* The bits of the exit code of git fsck, as in stock Git. */
enum {
	FSCK_FOUND_OBJECT = 1 << 0, /* an object is damaged */
	/* a reachable object is missing */
	FSCK_FOUND_REACHABLE = 1 << 1,
	/* a pack or its index is damaged */
	FSCK_FOUND_PACK = 1 << 2,
	FSCK_FOUND_REFS = 1 << 3, /* a reference is damaged */
	/* a commit-graph is damaged */
	FSCK_FOUND_COMMIT_GRAPH = 1 << 4,
	/* a multi-pack-index is damaged */
	FSCK_FOUND_MIDX = 1 << 5,
	/* a reverse index is damaged */
	FSCK_FOUND_REV = 1 << 6,
	/* a bitmap index is damaged */
	FSCK_FOUND_BITMAP = 1 << 7,
};

struct fsck_args {
	bool unreachable, dangling, tags, root, cache, reflogs, full;
	bool connectivity_only, strict, verbose, lost_found;
	bool progress, no_progress, references, name_objects;
};

/* An argument that names an object. */
struct fsck_named {
	bool is_known; /* whether `oid` is set */
	struct oid oid;
};

struct fsck_run {
	struct fsck_args a;
	struct store s;
	struct fsck_rules rules;
	struct walk walk;
	struct fsck_scan scan;
	struct promisor promisor;
	/* names of objects for messages; used only if a.name_objects is set */
	struct fsck_names names;
	/* owned: an item for each argument */
	struct fsck_named *named;
	const struct progress_out *progress; /* NULL: show none */
	/*
	 * the values of core.multiPackIndex and core.commitGraph; a file is
	 * checked only if its key is true
	 */
	bool uses_midx, uses_graph;
	/* scratch memory for an object's id and name */
	struct buf shown;
	/* the exit code: an OR of bits FSCK_FOUND_... */
	unsigned found;
	struct error *err;
};

/*
 * Set r->named to the ids of the arguments. Prints an error for each unknown
 * name. Returns 0. Returns ERR_UNSUPPORTED if stock Git fails to resolve a name
 * with a fatal error, or another negative error code.
 */
int fsck_resolve(struct fsck_run *r, const char **names, int name_nr);

/* Check the files of refs as `git refs verify` does, and print the problems. */
void fsck_check_refs(struct fsck_run *r);

/*
 * Print the names of files that are in the directories of loose objects, but
 * whose names are not those of objects. Such files do not change the exit code.
 * Returns 0 or a negative error code.
 */
int fsck_name_non_objects(struct fsck_run *r);

/*
 * Returns whether a promisor remote has promised an object, so that the object
 * may be missing. Also returns false if finding this out fails.
 */
bool fsck_is_promised(struct fsck_run *r, const struct oid *oid);

/*
 * Collect the roots, find the objects that they reach, and print missing and
 * unreachable objects. If `name_nr` is not 0, the roots are `names`; otherwise
 * refs, reflogs and index files. Returns 0 or a negative error code.
 */
int fsck_check_links(struct fsck_run *r, const char **names, int name_nr);

/*
 * Check packs, their indexes and reverse indexes, bitmap indexes,
 * multi-pack-indexes and commit-graphs. Only the files themselves are checked,
 * not the objects in them. Print the problems.
 */
void fsck_check_files(struct fsck_run *r);

#endif
