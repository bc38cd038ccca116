/* SPDX-License-Identifier: MIT */
/*
 * The files backend: loose files over packed-refs, reflogs below logs/. What
 * its parts share: reading (refs-files.c), locking and staging
 * (refs-files-lock.c), D/F conflicts (refs-files-conflict.c), putting in place
 * (refs-files-commit.c), packing (refs-files-pack.c), what reflogs keep
 * (refs-files-kept.c).
 */
#ifndef REFS_REFS_FILES_H
#define REFS_REFS_FILES_H

#include "refs/packed-refs.h"
#include "refs/ref-pack.h"
#include "refs/refs-backend.h"

/*
 * The packed-refs file as it is now, mapped; the pointer lives until
 * refs_close(). For those who look for names in it without a visit.
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
