/* SPDX-License-Identifier: MIT */
/*
 * The objects that a stopped rebase needs. A rebase that stops, for example at
 * a conflict, leaves a directory in the git directory of its work tree:
 * rebase-merge/, or rebase-apply/ with --apply. Two files there name commits
 * that possibly nothing else reaches:
 *
 * 	orig-head	the tip of the branch before the rebase
 * 	autostash	the uncommitted changes that --autostash has put away
 *
 * `git rebase --abort` brings both back. Each file starts with an id in hex.
 */
#ifndef REPO_REBASE_H
#define REPO_REBASE_H

#include "base/error.h"
#include "object/oid.h"
#include "repo/repo.h"

/*
 * A stopped rebase leaves the files orig-head and autostash, which have one id
 * each. Calls `fn` with the ids in these files, for the stopped rebases of all
 * work trees. A missing file, and a file that does not start with an id, are
 * skipped. If `fn` returns a nonzero value, the visit stops and returns that
 * value. Otherwise returns 0, ERR_IO or ERR_NOMEM.
 */
int rebase_each_oid(const struct repo *repo,
		    int (*fn)(void *ctx, const struct oid *oid), void *ctx,
		    struct error *err);

#endif
