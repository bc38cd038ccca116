/* SPDX-License-Identifier: MIT */
/* Packing refs: chooses by the kind of storage. */
#include "refs-write/ref-pack.h"

static bool in_tables(const struct repo *repo)
{
	return repo->ref_storage == REPO_REFS_REFTABLE;
}

int ref_pack_is_due(const struct repo *repo,
		    const struct ref_pack_options *options, struct error *err)
{
	return in_tables(repo) ? refs_reftable_pack_is_due(repo, options, err)
			       : refs_files_pack_is_due(repo, options, err);
}

int ref_pack(const struct repo *repo, struct odb_reader *reader,
	     const struct ref_pack_options *options, struct error *err)
{
	return in_tables(repo) ? refs_reftable_pack(repo, options, err)
			       : refs_files_pack(repo, reader, options, err);
}
