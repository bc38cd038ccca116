/* SPDX-License-Identifier: MIT */
/* Checking refs: chooses by the kind of storage. */
#include "refs/refs-check.h"

int refs_check_run(struct refs_check *c, const struct repo *repo,
		   struct error *err)
{
	return repo->ref_storage == REPO_REFS_REFTABLE
		       ? refs_check_reftable(c, repo, err)
		       : refs_check_files(c, repo, err);
}
