/* SPDX-License-Identifier: MIT */
/*
 * Executing stock Git for everything that gitreach does not implement.
 *
 * Stock Git is GITREACH_FALLBACK (an absolute path), or else the first `git` on
 * PATH that is not ours. Unless the user has set GIT_EXEC_PATH, we set it to
 * our exec path for stock Git. Stock Git then starts `git` and `git-<command>`
 * from there: `git gc` runs our `git repack`.
 *
 * If our links lead to another Git than the one that is executed, a second
 * exec path is made (builtin/exec-path.h).
 *
 * GITREACH_TRAIL prevents endless loops. Another copy of gitreach on PATH could
 * cause a loop, and so could a wrapper script. So could a stock Git that lacks
 * the command and starts the one in our exec path. The variable holds four
 * kinds of words:
 *
 *	2           this process and its ancestors executed stock Git twice
 *	=1234:gc    process 1234 did so for `git gc`
 *	fe01:1a2b   device and inode of a file that is known to be ours
 *	?           we asked stock Git for its exec path or its version
 *
 * For example:
 *
 *	"2 =1234:gc fe01:1a2b =1240:refs fe01:3c4d"
 */
#ifndef BUILTIN_FALLBACK_H
#define BUILTIN_FALLBACK_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "sys/trace.h"

/* Whether stock Git is installed. */
bool fallback_exists(void);

/*
 * Append the version of stock Git, such as "2.39.5". Our exec path records it.
 * Only if stock Git has changed since, a process is started that asks. Returns
 * 0, or a negative error code, for example if stock Git is not installed.
 */
int fallback_version(struct buf *out, struct trace *trace, struct error *err);

/*
 * Append the exec path for stock Git, and make it if necessary. Without stock
 * Git, or if the user has set GIT_EXEC_PATH: the path of exec_path_current().
 * Returns 0 or ERR_NOMEM.
 */
int fallback_exec_path(struct buf *out, struct trace *trace, struct error *err);

/*
 * Whether our parent process has become stock Git for this command. If we were
 * called as git-<command>, this stock Git does not have the command.
 */
bool fallback_is_parent(const char *command);

/*
 * Execute stock Git with the words `args` (NULL-terminated, without "git"), and
 * report that to `trace` (NULL: no trace). Returns only on failure: the exit
 * code, after printing the reason. Without stock Git, this is the result of
 * help_unknown() for the first word that is no option.
 */
int fallback_git(const char *const *args, struct trace *trace);

/*
 * Run stock Git with the words `args` as a child without input. Append what it
 * prints on stdout. Returns its exit code, or a negative error code.
 */
int fallback_capture(struct buf *out, const char *const *args,
		     struct trace *trace, struct error *err);

/*
 * Execute stock Git's program git-<args[0]> with the words after it, if we were
 * called by that name. The program is taken from stock Git's own exec path,
 * because the one in our exec path may be this program. Returns as
 * fallback_git().
 */
int fallback_helper(const char *const *args, struct trace *trace);

#endif
