/* SPDX-License-Identifier: MIT */
/*
 * Reads the entries of index files (gitformat-index(5), versions 2 to 4).
 * Callers use the entries to find which objects an index keeps alive, and which
 * files the work tree has. Nothing here changes an index.
 */
#ifndef NAMES_INDEX_FILE_H
#define NAMES_INDEX_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "object/oid.h"
#include "repo/repo.h"

struct index_entry {
	struct oid oid;
	uint32_t mode;
	/*
	 * path relative to the top of the work tree, NUL-terminated; valid only
	 * during the callback
	 */
	const char *path;
	size_t path_len;
	/*
	 * name of the index file, also for an entry of its shared index; valid
	 * only during the callback. NULL for index_file_parse().
	 */
	const char *index;
};

typedef int index_entry_fn(void *ctx, const struct index_entry *entry);

/*
 * Calls `fn` with each entry in the bytes of an index file. *shared is the id
 * of the shared index, or zero if the index is not split. A split index also
 * uses most entries of its shared index. If `fn` returns a nonzero value, the
 * visit stops and returns that value. Otherwise returns 0, ERR_CORRUPT if the
 * bytes are not an index, ERR_UNSUPPORTED for an unknown extension that must be
 * understood, or ERR_NOMEM.
 */
int index_file_parse(const void *bytes, size_t len, enum hash_algo algo,
		     index_entry_fn *fn, void *ctx, struct oid *shared,
		     struct error *err);

/*
 * Works like index_file_parse() for the index of the current work tree:
 * GIT_INDEX_FILE, or the index in repo->git_dir. Also visits all entries of its
 * shared index, even those that the split index replaced. Missing files are
 * skipped. Returns 0, the nonzero value that `fn` returned, or a negative error
 * code.
 */
int index_file_each(const struct repo *repo, index_entry_fn *fn, void *ctx,
		    struct error *err);

/*
 * Calls `fn` with the ids of all entries except submodules, and of the trees
 * that the cache-trees name. Visits all index files of the repository, of its
 * main work tree and of its linked work trees, with their shared indexes.
 * Returns 0, the nonzero value that `fn` returned, or a negative error code.
 */
int index_file_each_oid(const struct repo *repo,
			int (*fn)(void *ctx, const struct oid *oid), void *ctx,
			struct error *err);

/* A tree that the cache-tree of an index file names. */
struct index_tree {
	struct oid oid;
	const char *index; /* as in struct index_entry */
	/*
	 * initially false; the callback sets this to true if the trees below
	 * this tree should be skipped
	 */
	bool skips_subtrees;
};

typedef int index_tree_fn(void *ctx, struct index_tree *tree);

/*
 * Visits the same index files as index_file_each_oid(). Calls `fn` with the
 * entries except submodules, and `tree_fn` with the trees of the cache-trees,
 * each before its subtrees; `tree_fn` may be NULL. Verifies the checksum at the
 * end of each file. Returns ERR_CORRUPT if a checksum is wrong, otherwise the
 * values of index_file_each_oid(). A checksum of zeros is accepted: the writer
 * has left it out (index.skipHash).
 */
int index_file_check_each(const struct repo *repo, index_entry_fn *fn,
			  index_tree_fn *tree_fn, void *ctx, struct error *err);

#endif
