/* SPDX-License-Identifier: MIT */
/*
 * Becoming the stock Git, for whatever is not ours.
 *
 * Stock Git is GITREACH_FALLBACK (an absolute path), or the first `git` on
 * PATH that is not ours. It is given our exec path in GIT_EXEC_PATH (unless the
 * user has set that), from which it takes the `git` and `git-<command>` that
 * it starts: `git gc` runs our `git repack`.
 *
 * GITREACH_TRAIL keeps us from going round in circles, which another copy of
 * gitreach on PATH, a wrapper script, or a stock Git that does not have the
 * command and starts the one in our exec path would lead us into. It holds how
 * many times a process or its ancestors have come this way, which process for
 * which command, and the files (device and inode) that are known to be ours:
 *
 *	"2 =1234:gc fe01:1a2b =1240:refs fe01:3c4d"
 */
#ifndef BUILTIN_FALLBACK_H
#define BUILTIN_FALLBACK_H

#include <stdbool.h>

#include "sys/trace.h"

/* Whether there is a stock Git. */
bool fallback_exists(void);

/*
 * Whether the process that started us has become stock Git for this command.
 * Called as git-<command>, we are then what it found for want of its own.
 */
bool fallback_is_parent(const char *command);

/*
 * Run stock Git with the words `args` (NULL-terminated, without the leading
 * "git"), and tell `trace` (NULL: nobody). Returns only when that is not
 * possible: 128, after printing why.
 */
int fallback_git(const char *const *args, struct trace *trace);

/*
 * Run stock Git's program git-<args[0]>, with the words after it, for when we
 * were called by that name: from its own exec path, as our exec path's one
 * may be ourselves. Returns as fallback_git().
 */
int fallback_helper(const char *const *args, struct trace *trace);

#endif
