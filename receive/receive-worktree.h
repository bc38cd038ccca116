/* SPDX-License-Identifier: MIT */
/*
 * Work trees that have a branch checked out which a push changes, and
 * receive.denyCurrentBranch=updateInstead, which takes them along.
 *
 * What is in a work tree is not what this program is about: the index is
 * looked at and files are written by children, `git update-index`,
 * `diff-files`, `diff-index` and `read-tree -u -m`, or by the push-to-checkout
 * hook.
 */
#ifndef RECEIVE_RECEIVE_WORKTREE_H
#define RECEIVE_RECEIVE_WORKTREE_H

#include "base/error.h"

struct receive;
struct receive_command;

struct receive_worktree {
	char *git_dir; /* owned: its own: <common_dir>[/worktrees/<name>] */
	char *dir;     /* owned; NULL: where it is cannot be told */
};

void receive_worktree_release(struct receive_worktree *worktree);

/*
 * Find a work tree that has the branch `name` checked out. 1 with *out, when
 * `out` is not NULL, for the caller to release; 0; or negative.
 */
int receive_worktree_find(struct receive_worktree *out, struct receive *r,
			  const char *name, struct error *err);

/*
 * Bring the work tree that has the branch of a command, without the prefix of a
 * namespace, to the new value; `full` is the ref. The branch is not changed
 * yet. What does not work out refuses the command with Git's reason: a work
 * tree or index that is not that of the current commit, a hook that declines.
 * Nothing is done when the command will be refused anyway, as its ref is not
 * what it says. 0 or negative.
 */
int receive_worktree_update(struct receive *r, struct receive_command *cmd,
			    const char *full, struct error *err);

#endif
