/* SPDX-License-Identifier: MIT */
/*
 * The files backend: loose files, which hide records of packed-refs. Parts:
 * reading (refs-files.c), and refs and reflogs that keep objects alive
 * (refs-files-kept.c). reflog-backend.h declares the functions for reflogs.
 * Transactions and packing are in refs-write/.
 */
#ifndef REFS_REFS_FILES_H
#define REFS_REFS_FILES_H

#include "refs/packed-refs.h"
#include "refs/refs-backend.h"

/*
 * Sets *table to the mapping of the current packed-refs file, for searches by
 * name. The pointer is valid until refs_close(). Returns 0 or a negative error
 * code.
 */
int refs_files_packed(struct refs *refs, const struct packed_refs **table,
		      struct error *err);

/*
 * Implements refs_each_reflog_oid() for refs in files, with the same return
 * values.
 */
int refs_files_each_kept(const struct repo *repo,
			 int (*fn)(void *ctx, const struct oid *oid), void *ctx,
			 struct error *err);

#endif
