/* SPDX-License-Identifier: MIT */
/*
 * The hooks of a push (githooks(5)). They run in the git directory with
 * GIT_DIR set to it; what they print goes to the pusher while they run, and
 * while they are silent a keep-alive goes now and then.
 *
 *	pre-receive            all commands on its input; sees the quarantine
 *	update <ref> <old> <new>   before each
 *	reference-transaction <state>   the changes of refs on its input
 *	post-receive           what was done on its input
 *	post-update <ref>...   the refs that were changed
 *
 * push-to-checkout is started by receive-worktree.h.
 *
 * A hook that is not there agrees.
 */
#ifndef RECEIVE_RECEIVE_HOOKS_H
#define RECEIVE_RECEIVE_HOOKS_H

#include "base/error.h"
#include "receive/receive.h"
#include "receive/receive-worktree.h"
#include "refs/ref-transaction.h"

/* 0, 1 when the hook is against all of it, or negative. */
int receive_hook_pre(struct receive *r, struct error *err);

/* 0, 1 when the hook is against this command, or negative. */
int receive_hook_update(struct receive *r, const struct receive_command *cmd,
			struct error *err);

/* As on_state of a transaction; ctx is the struct receive. */
int receive_hook_transaction(void *ctx, enum ref_state state,
			     const struct ref_transaction *tx,
			     struct error *err);

/*
 * Run a program like a hook, for a work tree: GIT_DIR and GIT_WORK_TREE are
 * those of `worktree`. `name`: of the hook that it is, or NULL. Its exit code,
 * or negative.
 */
int receive_run_in(struct receive *r, const char *const *argv, const char *name,
		   const struct receive_worktree *worktree, struct error *err);

/* post-receive and post-update, when something was done. 0 or negative. */
int receive_hook_post(struct receive *r, struct error *err);

/* ---- the environment of hooks */

enum receive_env {
	/* GIT_QUARANTINE_PATH, and the object directories that go with it. */
	RECEIVE_ENV_QUARANTINE = 1 << 0,
	/* GIT_PUSH_OPTION_COUNT and so on, where options may be given. */
	RECEIVE_ENV_OPTIONS = 1 << 1,
	/* GIT_PUSH_CERT and so on, of a signed push. */
	RECEIVE_ENV_CERT = 1 << 2,
};

struct receive_environment {
	char **strings; /* owned array; strings of environ and `own` */
	char **own;     /* owned, with its strings */
	size_t own_nr, own_alloc;
};

/*
 * GIT_DIR is ".": hooks run in the git directory. Those that are about a work
 * tree get its places. 0 or ERR_NOMEM; release in any case.
 */
int receive_environment_init(struct receive_environment *env,
			     const struct receive *r, unsigned flags,
			     const struct receive_worktree *worktree,
			     struct error *err);
void receive_environment_release(struct receive_environment *env);

#endif
