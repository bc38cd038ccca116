/* SPDX-License-Identifier: MIT */
/*
 * Executing stock Git for everything that gitreach does not implement.
 *
 * Stock Git is the program GITREACH_FALLBACK (an absolute path), or else the
 * first `git` on PATH that is not gitreach. Unless the user has set
 * GIT_EXEC_PATH, we set this variable to our exec-path directory. Stock Git
 * then starts other commands from our directory. For example, `git gc` of stock
 * Git runs our `git repack`.
 *
 * Our exec-path directory has links to the commands of one stock Git. If
 * another stock Git is executed, it gets an exec-path directory of its own
 * (builtin/exec-path.h).
 *
 * The environment variable GITREACH_TRAIL prevents endless loops. There are
 * three causes of a loop: another copy of gitreach on PATH, a wrapper script
 * that starts gitreach, and a stock Git that lacks a command and starts ours.
 * The variable holds four kinds of words:
 *
 *	2           a counter: gitreach has executed stock Git, which has
 *	            started gitreach, which has executed stock Git again
 *	=1234:gc    process 1234 has executed stock Git to run `git gc`
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

/* Returns whether stock Git is installed. */
bool fallback_exists(void);

/*
 * Append the version of stock Git, such as "2.39.5". Our exec-path directory
 * has a file with this version, the record (builtin/exec-path.h). If the
 * program of stock Git has not changed since the record was made, the version
 * is read from the record. Otherwise stock Git is started to ask for its
 * version. Returns 0, or a negative error code, for example if stock Git is not
 * installed.
 */
int fallback_version(struct buf *out, struct trace *trace, struct error *err);

/*
 * Append the exec path for stock Git, and make its directory if necessary. If
 * stock Git is not installed, or if the user has set GIT_EXEC_PATH, append the
 * path of exec_path_current() in its place. Returns 0 or ERR_NOMEM.
 */
int fallback_exec_path(struct buf *out, struct trace *trace, struct error *err);

/*
 * Returns whether our parent process is stock Git that gitreach executed to run
 * `command`. If so, stock Git does not have the command: it has found our
 * git-<command> in the exec path, and started this process.
 */
bool fallback_is_parent(const char *command);

/*
 * Execute stock Git with the words `args` (NULL-terminated, without "git"). The
 * execution is recorded in `trace` (NULL: no trace). Returns only on failure:
 * prints the reason and returns the exit code. If stock Git is not installed,
 * prints the message of help_unknown() about the command, which is the first
 * word that is no option.
 */
int fallback_git(const char *const *args, struct trace *trace);

/*
 * Run stock Git as a child process, with the words `args` and without input.
 * Append its standard output to *out. Returns the exit code of stock Git, or a
 * negative error code.
 */
int fallback_capture(struct buf *out, const char *const *args,
		     struct trace *trace, struct error *err);

/*
 * Called if the program was started as git-<args[0]>, and we do not have this
 * command. Executes git-<args[0]> in stock Git's own exec path, not in ours,
 * where this name may lead to our program. If stock Git has no such program,
 * executes stock `git` with `args`. Returns only on failure: prints the reason
 * and returns the exit code.
 */
int fallback_helper(const char *const *args, struct trace *trace);

#endif
