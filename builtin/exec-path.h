/* SPDX-License-Identifier: MIT */
/*
 * Our exec-path directory: `git` and `git-<command>` for what is ours, links
 * to stock Git's files for the rest (see tools/exec-dir).
 *
 * It is found from where this program lies, so that a build tree and a moved
 * installation work; else it is where the build said it would be installed.
 */
#ifndef BUILTIN_EXEC_PATH_H
#define BUILTIN_EXEC_PATH_H

#include "base/buf.h"
#include "base/error.h"

/*
 * Append our directory to *out. Returns 0, ERR_MISSING when there is none
 * (nothing is appended), or ERR_NOMEM.
 */
int exec_path_ours(struct buf *out, struct error *err);

/*
 * Append what `git --exec-path` answers: GIT_EXEC_PATH if set, else our
 * directory, else the one that was compiled in. 0 or ERR_NOMEM.
 */
int exec_path_current(struct buf *out, struct error *err);

/*
 * Put the current directory first in PATH, as stock Git does for what a
 * command starts. 0 or ERR_NOMEM.
 */
int exec_path_prepend(struct error *err);

#endif
