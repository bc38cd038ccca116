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

#include "base/buf.h"
#include "base/error.h"
#include "repo/repo.h"
#include "sys/spawn.h"

/* The program of a hook. All strings are borrowed. */
struct hook_program {
	/*
	 * Name or path of the program, its arguments, and NULL. A name without
	 * a slash is searched in PATH.
	 */
	const char *const *argv;
	/* the path of the hook, or its configured command, for messages */
	const char *name;
};

/* How the caller runs hooks. */
struct hook_runner {
	/* Runs a program. Returns its exit code or a negative error code. */
	int (*run)(void *ctx, const struct hook_program *program,
		   struct error *err);
	/*
	 * Gets text, with a line feed at the end, about a hook that does not
	 * run: a hint or a warning. NULL: not wanted.
	 */
	void (*advise)(void *ctx, const char *text);
	void *ctx;
	/*
	 * Borrowed: all text that advise() got. Each text is given only once.
	 * NULL: advise() gets each text each time.
	 */
	struct buf *advice;
	/*
	 * The directory in which the programs run, where the relative paths of
	 * hooks start. NULL: the working directory of this process.
	 */
	const char *dir;
};

/*
 * Finds the program of a hook: a file <name> in core.hooksPath, or by default
 * in <common_dir>/hooks. A relative core.hooksPath starts in runner->dir. If
 * runner->dir is <common_dir> or the work tree, the default path is relative to
 * runner->dir. A file that this process may not execute is no program, and
 * runner->advise() gets Git's hint. A directory counts as a program, as in Git,
 * so it fails to start instead of disabling the hook.
 *
 * Returns 1 with *path malloc()ed for the caller, 0 if there is no program,
 * ERR_INVALID if core.hooksPath names an unknown home directory, or ERR_NOMEM.
 */
int repo_hook_find(char **path, const struct repo *repo, const char *name,
		   const struct hook_runner *runner, struct error *err);

/*
 * Checks core.hooksPath. Returns 0, ERR_INVALID with Git's message if the key
 * has no value or names an unknown home directory, or ERR_NOMEM.
 */
int repo_hooks_check_path(const struct repo *repo, struct error *err);

/*
 * Calls runner->run() for each hook of an event, in order, with `args` as the
 * arguments of the hook. A negative error code of run() stops the loop.
 *
 * Returns the last nonzero exit code, 0 if all were 0 or there is no hook, a
 * negative error code of run(), ERR_NOMEM, or ERR_INVALID with Git's message.
 * With ERR_INVALID no hook was run: a configured hook has no command or the
 * name of an event, a key of a hook has no value, or core.hooksPath is invalid.
 */
int repo_hooks_run(const struct repo *repo, const char *event,
		   const char *const *args, size_t arg_nr,
		   const struct hook_runner *runner, struct error *err);

/*
 * Returns 1 if an event has a hook, 0 if not, or a negative error code.
 * runner->run() is not called.
 */
int repo_hooks_has(const struct repo *repo, const char *event,
		   const struct hook_runner *runner, struct error *err);

/*
 * Appends Git's message about a hook that did not run to its end, with a line
 * feed. `child` is the child of sys_spawn_in(), after sys_spawn_wait() if it
 * was started. Returns 1 if the hook could not be started, or if a signal
 * killed it that Git reports (all except SIGINT, SIGQUIT and SIGPIPE). Returns
 * 0 without a message otherwise, or ERR_NOMEM.
 */
int repo_hook_describe_end(struct buf *out, const struct hook_program *program,
			   const struct sys_child *child);

#endif
