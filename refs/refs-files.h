/* SPDX-License-Identifier: MIT */
/*
 * The files backend: loose files, which hide records of packed-refs. Its parts:
 * reading (refs-files.c), refs and reflogs that keep objects alive
 * (refs-files-kept.c), and packing (refs-files-pack.c). Transactions are in
 * refs-files-tx.h, reflogs in reflog-backend.h.
 */
#ifndef REFS_REFS_FILES_H
#define REFS_REFS_FILES_H

#include "refs/packed-refs.h"
#include "refs/ref-pack.h"
#include "refs/refs-backend.h"

/*
 * Sets *table to the mapping of the present packed-refs file, for searches by
 * name. The pointer is valid until refs_close(). Returns 0 or a negative error
 * code.
 */
int refs_files_packed(struct refs *refs, const struct packed_refs **table,
		      struct error *err);

int refs_files_pack_is_due(const struct repo *repo,
			   const struct ref_pack_options *options,
			   struct error *err);
int refs_files_pack(const struct repo *repo, struct odb_reader *reader,
		    const struct ref_pack_options *options, struct error *err);
int refs_files_each_kept(const struct repo *repo,
			 int (*fn)(void *ctx, const struct oid *oid), void *ctx,
			 struct error *err);

#endif
