/* SPDX-License-Identifier: MIT */
/*
 * Linked work trees, found by their git directories <common
 * dir>/worktrees/<name>/ (gitrepository-layout(5)).
 */
#ifndef REPO_WORKTREE_H
#define REPO_WORKTREE_H

#include "base/buf.h"
#include "base/error.h"
#include "repo/repo.h"

/*
 * Calls `fn` with the name and the git directory of each linked work tree, in
 * no particular order. Some of these work trees may no longer exist. If `fn`
 * returns a nonzero value, the visit stops and returns that value. Otherwise
 * returns 0, ERR_IO or ERR_NOMEM.
 */
int worktree_each(const struct repo *repo,
		  int (*fn)(void *ctx, const char *name, const char *git_dir),
		  void *ctx, struct error *err);

/*
 * Works like worktree_each(), but passes the directory of the work tree's own
 * refs instead of the git directory, see repo_refs_dir(). This directory may be
 * missing. Returns 0, the nonzero value that `fn` returned, or a negative error
 * code.
 */
int worktree_each_refs(const struct repo *repo,
		       int (*fn)(void *ctx, const char *name,
				 const char *refs_dir),
		       void *ctx, struct error *err);

/*
 * Appends the path of the work tree's .git file. The file "gitdir" in `git_dir`
 * contains this path; a relative path starts in `git_dir`. The .git file itself
 * is not read. Returns 1 if the path was appended, 0 if "gitdir" is missing,
 * unreadable or empty, or ERR_NOMEM.
 */
int worktree_git_file(struct buf *out, const char *git_dir);

#endif
