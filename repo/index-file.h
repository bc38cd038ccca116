/* SPDX-License-Identifier: MIT */
/*
 * The index of a work tree, as far as it keeps objects alive: the ids of its
 * entries (gitformat-index(5), versions 2 to 4). Nothing here changes one.
 */
#ifndef REPO_INDEX_FILE_H
#define REPO_INDEX_FILE_H

#include <stddef.h>

#include "base/error.h"
#include "object/oid.h"
#include "repo/repo.h"

/*
 * Call `fn` with the id of each entry but submodules' of the bytes of an index
 * file. A nonzero return stops and is returned. A split index has entries of a
 * shared one as well, by and large: *shared gets its id, all zero otherwise.
 * ERR_CORRUPT for what is no index, ERR_UNSUPPORTED for one with an extension
 * that must be understood.
 */
int index_file_parse(const void *bytes, size_t len, enum hash_algo algo,
		     int (*fn)(void *ctx, const struct oid *oid), void *ctx,
		     struct oid *shared, struct error *err);

/*
 * The same for the index files of the repository: its own, those of its
 * worktrees, and shared ones that these name, of which entries are visited
 * too that the split index has replaced. Missing ones are passed over.
 */
int index_file_each_oid(const struct repo *repo,
			int (*fn)(void *ctx, const struct oid *oid), void *ctx,
			struct error *err);

#endif
