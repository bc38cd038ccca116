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
	 * only during the callback. "index" for index_file_parse().
	 */
	const char *index;
};

typedef int index_entry_fn(void *ctx, const struct index_entry *entry);

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
 * Callback for an object that the resolve-undo extension of the index file
 * `index` names.
 */
typedef int index_undo_fn(void *ctx, const struct oid *oid, const char *index);

/* Callbacks of index_file_parse(), each with `ctx`; NULL: not called. */
struct index_callbacks {
	index_entry_fn *entry;
	index_tree_fn *tree;
	index_undo_fn *undo;
	void *ctx;
};

/*
 * Parses the bytes of an index file. Calls `on->entry` with each entry, and
 * `on->tree` with each tree of the cache-tree, a tree before its subtrees.
 * Calls `on->undo` with each object of the resolve-undo extension except
 * submodules. An extension that has no callback is not parsed. *shared is the
 * id of the shared index, or zero if the index is not split. A split index also
 * uses most entries of its shared index. If a callback returns a nonzero value,
 * the visit stops and returns that value. Otherwise returns 0, ERR_CORRUPT if
 * the bytes are not an index, ERR_UNSUPPORTED for an unknown extension that
 * must be understood, or ERR_NOMEM.
 */
int index_file_parse(const void *bytes, size_t len, enum hash_algo algo,
		     const struct index_callbacks *on, struct oid *shared,
		     struct error *err);

/*
 * Calls `fn` with each entry of the index of the current work tree:
 * GIT_INDEX_FILE, or the index in repo->git_dir. Also visits all entries of its
 * shared index, even those that the split index replaced. A missing index file
 * is skipped; a missing shared index is ERR_IO. Returns 0, the nonzero
 * value that `fn` returned, or a negative error code.
 */
int index_file_each(const struct repo *repo, index_entry_fn *fn, void *ctx,
		    struct error *err);

/*
 * Calls `fn` with the ids of all entries except submodules, of the trees that
 * the cache-trees name, and of the files that the resolve-undo extensions name.
 * A resolve-undo extension has the three versions of each file whose conflict
 * was resolved; `git checkout -m` brings the conflict back. Visits the index
 * files of the main work tree and of all linked work trees, with their shared
 * indexes. A missing shared index is ERR_IO. Returns 0, the nonzero value that
 * `fn` returned, or a negative error code.
 */
int index_file_each_oid(const struct repo *repo,
			int (*fn)(void *ctx, const struct oid *oid), void *ctx,
			struct error *err);

/*
 * Visits the same index files as index_file_each_oid(), with the callbacks of
 * `on`. Entries of submodules are not visited. Verifies the checksum at the end
 * of each file. Returns ERR_CORRUPT if a checksum is wrong, otherwise the
 * values of index_file_each_oid(). A checksum of zeros is accepted: the writer
 * has left it out (index.skipHash).
 */
int index_file_check_each(const struct repo *repo,
			  const struct index_callbacks *on, struct error *err);

#endif
