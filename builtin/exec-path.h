/* SPDX-License-Identifier: MIT */
/*
 * Our exec-path directory. It holds `git` and `git-<command>` for our commands,
 * and links to stock Git's files for all others (see tools/exec-dir).
 *
 * The directory is searched relative to the running program, so that a build
 * tree and a moved installation work. If that fails, the installation path of
 * the build is used.
 */
#ifndef BUILTIN_EXEC_PATH_H
#define BUILTIN_EXEC_PATH_H

#include "base/buf.h"
#include "base/error.h"

/*
 * Append our directory to *out. Returns 0, ERR_MISSING if there is no such
 * directory (then nothing is appended), or ERR_NOMEM.
 */
int exec_path_ours(struct buf *out, struct error *err);

/*
 * Append the path that `git --exec-path` prints: GIT_EXEC_PATH if set, else our
 * directory, else the installation path of the build. Returns 0 or ERR_NOMEM.
 */
int exec_path_current(struct buf *out, struct error *err);

/*
 * Prepend the path of exec_path_current() to PATH for child processes, as stock
 * Git does. Returns 0 or a negative error code.
 */
int exec_path_prepend(struct error *err);

#endif
