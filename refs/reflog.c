/* SPDX-License-Identifier: MIT */
/*
 * Reads, lists and edits reflogs: calls the functions for the repository's kind
 * of storage (reflog-backend.h).
 */
#include "refs/reflog-backend.h"

static const struct reflog_backend *backend_of(const struct repo *repo)
{
	return repo->ref_storage == REPO_REFS_REFTABLE
		       ? &reflog_reftable_backend
		       : &reflog_files_backend;
}

bool reflog_exists(const struct repo *repo, const char *name)
{
	return backend_of(repo)->exists(repo, name);
}

int reflog_read(struct reflog *log, const struct repo *repo, const char *name,
		struct error *err)
{
	return backend_of(repo)->read(log, repo, name, err);
}

int reflog_each(const struct repo *repo, bool all_worktrees,
		int (*fn)(void *ctx, const char *name), void *ctx,
		struct error *err)
{
	struct strlist names = STRLIST_INIT;
	int ret = backend_of(repo)->list(&names, repo, all_worktrees, err);

	strlist_sort(&names);
	for (size_t i = 0; i < names.nr && !ret; i++)
		ret = fn(ctx, names.items[i]);
	strlist_release(&names);
	return ret;
}

int reflog_edit(const struct repo *repo, const char *name,
		const struct reflog_edit *how, struct error *err)
{
	return backend_of(repo)->edit(repo, name, how, err);
}

int reflog_drop(const struct repo *repo, const char *name, struct error *err)
{
	return backend_of(repo)->drop(repo, name, err);
}
