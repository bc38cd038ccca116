/* SPDX-License-Identifier: MIT */
/*
 * Hooks (githooks(5)): a program in a directory, and before it the commands
 * that the configuration has for an event (git-hook(1)):
 *
 *	[hook "<name>"]
 *		event = pre-receive         any number; "" forgets those above
 *		command = <shell command>   the last one counts
 *		enabled = false             not this one
 *	[hook "<event>"]
 *		enabled = false             none of the configuration's
 *
 * proc-receive, which is talked with, is a program only. They run one after
 * the other: hook.jobs, hook.<event>.jobs and hook.<name>.parallel would allow
 * more, and ask for nothing.
 */
#ifndef REPO_HOOK_H
#define REPO_HOOK_H

#include "base/error.h"
#include "repo/repo.h"

/*
 * The path of a hook: an executable file <name> in core.hooksPath (from the
 * working directory on, if it is relative), else in <common_dir>/hooks. 1 with
 * *path malloc()ed for the caller, 0 when there is none, or ERR_NOMEM.
 */
int repo_hook_find(char **path, const struct repo *repo, const char *name,
		   struct error *err);

/*
 * Call `run` for each hook of an event, in order, with what to start: a program
 * that is searched in PATH, its arguments with `args` at their end, and NULL,
 * all borrowed for the call. It returns an exit code, or a negative error,
 * which ends it.
 *
 * Returns the last exit code that is not 0, 0 when there is none (or no hook),
 * ERR_NOMEM, what `run` returned, or ERR_INVALID with Git's words for a
 * configuration that makes no sense: a hook without a command, or one that is
 * called like an event. Then none was run.
 */
int repo_hooks_run(const struct repo *repo, const char *event,
		   const char *const *args, size_t arg_nr,
		   int (*run)(void *ctx, const char *const *argv,
			      struct error *err),
		   void *ctx, struct error *err);

/* Whether an event has a hook: 1, 0, or an error as above. */
int repo_hooks_has(const struct repo *repo, const char *event,
		   struct error *err);

#endif
