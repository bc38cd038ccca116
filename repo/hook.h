/* SPDX-License-Identifier: MIT */
/*
 * Hooks (githooks(5)). At an event, the commands that are configured for the
 * event run first (git-hook(1)). Then the program <event> in the hooks
 * directory runs. The configuration:
 *
 *	[hook "<name>"]
 *		event = pre-receive         several; "" resets the list
 *		command = <shell command>   the last value counts
 *		enabled = false             disables this hook
 *	[hook "<event>"]
 *		enabled = false             disables all configured hooks
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
	 * Borrowed: collects the texts that advise() got, so that advise() gets
	 * the same text only once. NULL: it may get a text several times.
	 */
	struct buf *advice;
	/*
	 * The directory in which the hooks run. Relative paths of hooks start
	 * in this directory. NULL: the working directory of this process.
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
 * Reads core.hooksPath. Expands the start of the path, such as "~/". To find
 * out whether a relative path with ":(optional)" exists, the function looks in
 * `where` (NULL: the working directory); *dir itself stays relative. Returns 1
 * with *dir malloc()ed, 0 if the key counts as not set, ERR_INVALID with Git's
 * message if the key has no value or names an unknown home directory, or
 * ERR_NOMEM.
 */
int repo_hooks_path(char **dir, const struct repo *repo, const char *where,
		    struct error *err);

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
 * With ERR_INVALID no hook was run. The causes are a configured hook that is
 * enabled but has no command, a configured hook with the same name as an event,
 * a configuration key hook.<name>.* that has no value, and an invalid
 * core.hooksPath.
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
 * Appends Git's error message, with a line feed, for a hook that could not be
 * started or was killed by a signal. `child` is the result of sys_spawn_in(),
 * and of sys_spawn_wait() if the hook was started. Returns 1 if a message was
 * appended. Returns 0 if the hook ended by itself, or by SIGINT, SIGQUIT or
 * SIGPIPE, which Git does not report. Returns ERR_NOMEM if memory runs out.
 */
int repo_hook_describe_end(struct buf *out, const struct hook_program *program,
			   const struct sys_child *child);

#endif
