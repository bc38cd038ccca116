/* SPDX-License-Identifier: MIT */
/*
 * Linked work trees, as their git directories tell of them: <common
 * dir>/worktrees/<name>/ (gitrepository-layout(5)).
 */
#ifndef REPO_WORKTREE_H
#define REPO_WORKTREE_H

#include "base/buf.h"
#include "base/error.h"
#include "repo/repo.h"

/*
 * Call `fn` with the name and the git directory of each linked work tree, of
 * which some may be gone, in no order. A nonzero return ends it and is
 * returned. 0, ERR_IO or ERR_NOMEM.
 */
int worktree_each(const struct repo *repo,
		  int (*fn)(void *ctx, const char *name, const char *git_dir),
		  void *ctx, struct error *err);

/*
 * As worktree_each() with the directory that the work tree's own refs are in,
 * see repo_refs_dir(). It may be missing.
 */
int worktree_each_refs(const struct repo *repo,
		       int (*fn)(void *ctx, const char *name,
				 const char *refs_dir),
		       void *ctx, struct error *err);

/*
 * Append the path of the work tree's .git file, as the file "gitdir" in
 * `git_dir` has it; a relative one starts in `git_dir`. Whether it is there is
 * not looked at. 1; 0 when "gitdir" is not there or cannot be read, or says
 * nothing; or ERR_NOMEM.
 */
int worktree_git_file(struct buf *out, const char *git_dir);

#endif
