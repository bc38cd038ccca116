/* SPDX-License-Identifier: MIT */
/*
 * Runs the hooks of a push (githooks(5)). Hooks run in the git directory with
 * GIT_DIR=".". The output of a hook goes to the client while the hook runs. The
 * client gets keep-alives while a hook prints nothing.
 *
 *	hook                            standard input
 *	------------------------------  --------------------------------------
 *	pre-receive                     all commands; the hook can read the
 *	                                objects in the quarantine
 *	update <ref> <old> <new>        nothing; runs before each command
 *	reference-transaction <state>   changes of refs
 *	post-receive                    commands that were executed
 *	post-update <ref>...            nothing
 *
 * The quarantine is a temporary directory with the objects of the push. Usually
 * the objects are moved from the quarantine into the repository after
 * pre-receive. But if the repository is a local copy of a repository in a
 * store, the push stores its objects in the store (struct receive_target). The
 * objects then stay in the quarantine, and the hooks update,
 * reference-transaction and proc-receive can read the quarantine too. For
 * post-receive and post-update of such a push, there are two cases:
 *
 * - If the push is signed or the repository lacks the objects, the quarantine
 *   is an alternate of the repository, and is removed after these hooks.
 * - Otherwise the quarantine is removed before these hooks. A hook that fetches
 *   into another repository could rely on objects in the quarantine, and would
 *   lose them at the end of the push.
 *
 * receive-worktree.c starts push-to-checkout, and receive-proc.c starts
 * proc-receive. A hook that does not exist counts as a hook that succeeds. A
 * hook that cannot be started counts as a hook that fails.
 */
#ifndef RECEIVE_RECEIVE_HOOKS_H
#define RECEIVE_RECEIVE_HOOKS_H

#include "base/error.h"
#include "receive/receive.h"
#include "receive/receive-worktree.h"
#include "refs-write/ref-transaction.h"

/*
 * Run the hook "pre-receive". Returns 0 to go on with the push, 1 if the hook
 * declines the push, or a negative error code.
 */
int receive_hook_pre(struct receive *r, struct error *err);

/*
 * Run the hook "update" for a command. Returns 0 to execute the command, 1 if
 * the hook declines the command, or a negative error code.
 */
int receive_hook_update(struct receive *r, const struct receive_command *cmd,
			struct error *err);

/*
 * Run the hook "reference-transaction". This function is the on_state callback
 * of a transaction; `ctx` is the struct receive. Returns 0, ERR_DENIED if the
 * hook aborts a transaction that can still be aborted, or another negative
 * error code.
 */
int receive_hook_transaction(void *ctx, enum ref_state state,
			     const struct ref_transaction *tx,
			     struct error *err);

/*
 * Run git with the arguments `argv` for a work tree. The output goes to the
 * client, with keep-alives, as for a hook. GIT_DIR and GIT_WORK_TREE are set
 * from `worktree`. Returns the exit code or a negative error code.
 */
int receive_run_in(struct receive *r, const char *const *argv,
		   const struct receive_worktree *worktree, struct error *err);

/*
 * Run the hook "push-to-checkout" for a work tree. Returns 0 if there is no
 * hook, 1 if the hook succeeds, 2 if it declines, or a negative error code.
 */
int receive_hook_checkout(struct receive *r, const char *new_hex,
			  const struct receive_worktree *worktree,
			  struct error *err);

/*
 * Find the program of a hook (see repo_hook_find()). Git's hint about a program
 * that is not executable goes to options->tell. Returns 1 with *path malloc()ed
 * for the caller, 0 if there is no program, or a negative error code.
 */
int receive_hook_find(char **path, struct receive *r, const char *event,
		      struct error *err);

/* Returns 1 if an event has a hook, 0 if not, or a negative error code. */
int receive_hook_is_there(struct receive *r, const char *event,
			  struct error *err);

/*
 * Run the hooks post-receive and post-update if at least one command was
 * executed. Their exit codes are ignored. Returns 0 or a negative error code.
 */
int receive_hook_post(struct receive *r, struct error *err);

/* ---- the environment of hooks */

enum receive_env {
	/*
	 * If there is a quarantine, set GIT_QUARANTINE_PATH, and set the
	 * variables of object directories to the directories of the quarantine.
	 */
	RECEIVE_ENV_QUARANTINE = 1 << 0,
	/*
	 * Set GIT_PUSH_OPTION_*. As in Git 2.55, GIT_PUSH_OPTION_COUNT is "0"
	 * if the client cannot send push options.
	 */
	RECEIVE_ENV_OPTIONS = 1 << 1,
	/* Set GIT_PUSH_CERT*, if the push is signed. */
	RECEIVE_ENV_CERT = 1 << 2,
	/* If there is a quarantine, make it an alternate of the repository. */
	RECEIVE_ENV_ALTERNATE = 1 << 3,
};

struct receive_environment {
	/*
	 * Owned array, NULL after the last. The strings belong to environ and
	 * `own`.
	 */
	char **strings;
	char **own; /* owned array and strings */
	size_t own_nr, own_alloc;
};

/*
 * Make the environment of a hook: the environment of this process, GIT_DIR, and
 * the variables of `flags` (enum receive_env). If `worktree` is NULL, GIT_DIR
 * is "."; otherwise GIT_DIR and GIT_WORK_TREE are the directories of
 * `worktree`. Returns 0 or ERR_NOMEM. The caller releases *env in both cases.
 */
int receive_environment_init(struct receive_environment *env,
			     const struct receive *r, unsigned flags,
			     const struct receive_worktree *worktree,
			     struct error *err);
void receive_environment_release(struct receive_environment *env);

#endif
