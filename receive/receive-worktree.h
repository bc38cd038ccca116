/* SPDX-License-Identifier: MIT */
/*
 * Find the work tree that has a branch checked out, and update the files of the
 * work tree for receive.denyCurrentBranch=updateInstead.
 *
 * Child processes read the index and write the files: `git update-index`, `git
 * diff-files`, `git diff-index` and `git read-tree -u -m` of stock Git, or the
 * push-to-checkout hook.
 */
#ifndef RECEIVE_RECEIVE_WORKTREE_H
#define RECEIVE_RECEIVE_WORKTREE_H

#include "base/error.h"

struct receive;
struct receive_command;

struct receive_worktree {
	/* owned: "<common_dir>", or "<common_dir>/worktrees/<name>" */
	char *git_dir;
	/* owned: the directory of the files; NULL: unknown */
	char *dir;
};

void receive_worktree_release(struct receive_worktree *worktree);

/*
 * Find a work tree that has the branch with the full name `name` checked out.
 * Returns 1 if there is one, 0 if not, or a negative error code. `out` may be
 * NULL. If `out` is not NULL and the return value is 1, the caller releases
 * *out.
 */
int receive_worktree_find(struct receive_worktree *out, struct receive *r,
			  const char *name, struct error *err);

/*
 * Update the files of the work tree that has cmd->ref checked out, to the new
 * value of the command. `full` is the name with the prefix of the namespace.
 * The ref itself is not changed.
 *
 * The command is refused, with stock Git's reason, in three cases: files or
 * index differ from the current commit, the hook declines, or the directory of
 * the files is unknown. If the ref does not have the old value of the command,
 * nothing is done here, because the transaction refuses the command later.
 * Returns 0 or a negative error code.
 */
int receive_worktree_update(struct receive *r, struct receive_command *cmd,
			    const char *full, struct error *err);

#endif
