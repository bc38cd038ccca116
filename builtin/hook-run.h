/* SPDX-License-Identifier: MIT */
/* Runs the hooks of a command that a user called. */
#ifndef BUILTIN_HOOK_RUN_H
#define BUILTIN_HOOK_RUN_H

#include "base/buf.h"
#include "base/error.h"
#include "repo/repo.h"

/* The hooks of an event, and what they get. All pointers are borrowed. */
struct hook_call {
	const struct repo *repo;
	const char *event;
	const char *const *args;
	size_t arg_nr;
	/*
	 * Appends the text that hooks read from standard input. All hooks of
	 * the event read the same text. So the function is called before the
	 * first hook, and its text is kept for the other hooks. An empty text
	 * counts as a text that was not made yet: the function is called again
	 * before the next hook, and must append nothing again. If there is no
	 * hook, the function is not called.
	 *
	 * Returns 0 or ERR_NOMEM. NULL: the standard input of hooks is empty.
	 */
	int (*describe)(void *ctx, struct buf *out);
	void *ctx;
	/*
	 * Collects the advice about hooks that was printed, so that no advice
	 * is printed twice. NULL: print all advice.
	 */
	struct buf *advice;
};

/*
 * Runs the hooks. As in stock Git, hooks run in the top directory of the work
 * tree. Outside a work tree, hooks run in the working directory. GIT_DIR,
 * GIT_PREFIX and GIT_IMPLICIT_WORK_TREE are those that stock Git sets. The
 * standard output of hooks goes to standard error. The working directory and
 * the environment of this process stay unchanged.
 *
 * Returns 0 if there is no hook, or if the exit codes of all hooks are 0.
 * Otherwise returns the last nonzero exit code, or a negative error code of
 * repo_hooks_run(). A hook that cannot be started counts as a hook that fails.
 */
int hook_run(const struct hook_call *call, struct error *err);

/*
 * Returns 1 if hook_run() would run a hook, 0 if not, or a negative error code.
 * Only the members `repo`, `event` and `advice` of *call are used.
 */
int hook_is_there(const struct hook_call *call, struct error *err);

#endif
