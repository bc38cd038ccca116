/* SPDX-License-Identifier: MIT */
/*
 * The index of a work tree, as far as it keeps objects alive and says what
 * files there are: its entries (gitformat-index(5), versions 2 to 4). Nothing
 * here changes one.
 */
#ifndef NAMES_INDEX_FILE_H
#define NAMES_INDEX_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "object/oid.h"
#include "repo/repo.h"

struct index_entry {
	struct oid oid;
	uint32_t mode;
	const char *path; /* from the top of the work tree; NUL-terminated, for
			     as long as the call that it is given to */
	size_t path_len;
};

typedef int index_entry_fn(void *ctx, const struct index_entry *entry);

/*
 * Call `fn` with each entry of the bytes of an index file. A nonzero return
 * stops and is returned. A split index has entries of a shared one as well, by
 * and large: *shared gets its id, all zero otherwise. ERR_CORRUPT for what is
 * no index, ERR_UNSUPPORTED for one with an extension that must be understood.
 */
int index_file_parse(const void *bytes, size_t len, enum hash_algo algo,
		     index_entry_fn *fn, void *ctx, struct oid *shared,
		     struct error *err);

/*
 * The same for the index of the work tree at hand, GIT_INDEX_FILE or that of
 * repo->git_dir, and the shared one that it names, of which entries are visited
 * too that the split index has replaced. Missing ones are passed over.
 */
int index_file_each(const struct repo *repo, index_entry_fn *fn, void *ctx,
		    struct error *err);

/*
 * The ids of the entries but submodules' of all index files of the repository:
 * its own and those of its worktrees, as above.
 */
int index_file_each_oid(const struct repo *repo,
			int (*fn)(void *ctx, const struct oid *oid), void *ctx,
			struct error *err);

/*
 * As index_file_each_oid() for a check of the repository: the checksum at the
 * end of each file has to be right, or ERR_CORRUPT. A checksum of zeros only
 * means that the writer left it out (index.skipHash).
 */
int index_file_check_each_oid(const struct repo *repo,
			      int (*fn)(void *ctx, const struct oid *oid),
			      void *ctx, struct error *err);

#endif
