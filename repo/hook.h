/* SPDX-License-Identifier: MIT */
/*
 * Hooks (githooks(5)). An event runs the commands that are configured for it
 * (git-hook(1)), and then the program of that name in the hooks directory:
 *
 * 	[hook "<name>"]
 * 		event = pre-receive         several; "" resets the list
 * 		command = <shell command>   the last value counts
 * 		enabled = false             disables this hook
 * 	[hook "<event>"]
 * 		enabled = false             disables all configured hooks
 *
 * The hook proc-receive exchanges messages with the server, so it can only be a
 * program in the hooks directory. All hooks run one after the other. hook.jobs,
 * hook.<event>.jobs and hook.<name>.parallel permit more processes but do not
 * require them.
 */
#ifndef REPO_HOOK_H
#define REPO_HOOK_H

#include "base/error.h"
#include "repo/repo.h"

/*
 * Finds the program of a hook: an executable file <name> in core.hooksPath, or
 * by default in <common_dir>/hooks. A relative core.hooksPath starts in the
 * working directory. If the working directory is <common_dir> or the work tree,
 * the default path is relative to the working directory. Returns 1 with *path
 * malloc()ed for the caller, 0 if there is no program, or ERR_NOMEM.
 */
int repo_hook_find(char **path, const struct repo *repo, const char *name,
		   struct error *err);

/*
 * Calls `run` for each hook of an event, in order. `argv` is the name or path
 * of a program, its arguments with `args` at the end, and NULL. A name without
 * a slash is searched in PATH. All strings are borrowed during the call. `run`
 * returns an exit code, or a negative error code, which stops the loop.
 *
 * Returns the last nonzero exit code, 0 if all were 0 or there is no hook, a
 * negative error code of `run`, ERR_NOMEM, or ERR_INVALID with Git's message.
 * With ERR_INVALID no hook was run: a configured hook has no command, or has
 * the name of an event.
 */
int repo_hooks_run(const struct repo *repo, const char *event,
		   const char *const *args, size_t arg_nr,
		   int (*run)(void *ctx, const char *const *argv,
			      struct error *err),
		   void *ctx, struct error *err);

/* Returns 1 if an event has a hook, 0 if not, or a negative error code. */
int repo_hooks_has(const struct repo *repo, const char *event,
		   struct error *err);

#endif
