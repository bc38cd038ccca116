/* SPDX-License-Identifier: MIT */
/*
 * Packs refs: calls the function for the repository's kind of storage. In
 * reftables, packing merges the tables of a stack.
 */
#include <string.h>

#include "refs-write/ref-pack.h"
#include "refs/refs-reftable.h"

static int compact(const char *dir,
		   const struct reftable_append_options *options,
		   bool if_needed, struct error *err)
{
	int ret = if_needed ? reftable_compact_auto(dir, options, err)
			    : reftable_compact_all(dir, options, err);

	if (ret == ERR_DENIED && err)
		error_set(err, ret,
			  "unable to compact stack: data is locked\n\n%s",
			  err->msg);
	return ret;
}

/*
 * Calls `fn` for each stack of reftables of this work tree: the stack of
 * shared refs, and the work tree's own stack. If `fn` returns a nonzero value,
 * the loop stops and returns this value. Otherwise returns 0 or a negative
 * error code.
 */
static int each_own_stack(const struct repo *repo,
			  int (*fn)(const char *dir,
				    const struct reftable_append_options *o,
				    bool if_needed, struct error *err),
			  bool if_needed, struct error *err)
{
	struct reftable_append_options append;
	struct buf dir = BUF_INIT;
	int ret = refs_reftable_options(&append, repo, err);

	if (!ret && !refs_reftable_place(&dir, repo, "refs/"))
		ret = error_nomem(err);
	if (!ret)
		ret = fn(dir.data, &append, if_needed, err);
	if (!ret && strcmp(repo_refs_dir(repo), repo_refs_common_dir(repo))) {
		buf_reset(&dir);
		ret = refs_reftable_place(&dir, repo, "HEAD")
			      ? fn(dir.data, &append, if_needed, err)
			      : error_nomem(err);
	}
	buf_release(&dir);
	return ret;
}

static int is_due(const char *dir,
		  const struct reftable_append_options *options, bool if_needed,
		  struct error *err)
{
	(void)if_needed;
	return reftable_compact_is_due(dir, options, err);
}

static bool in_tables(const struct repo *repo)
{
	return repo->ref_storage == REPO_REFS_REFTABLE;
}

int ref_pack_is_due(const struct repo *repo,
		    const struct ref_pack_options *options, struct error *err)
{
	return in_tables(repo) ? each_own_stack(repo, is_due, true, err)
			       : refs_files_pack_is_due(repo, options, err);
}

int ref_pack(const struct repo *repo, struct odb_reader *reader,
	     const struct ref_pack_options *options, struct error *err)
{
	int ret = repo_check_copy(repo, "pack refs", err);

	if (ret)
		return ret;
	return in_tables(repo)
		       ? each_own_stack(repo, compact, options->if_needed, err)
		       : refs_files_pack(repo, reader, options, err);
}
