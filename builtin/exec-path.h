/* SPDX-License-Identifier: MIT */
/*
 * Our exec-path directory. It holds `git` and `git-<command>` for our commands,
 * and links to stock Git's files for all other commands (see tools/exec-dir).
 *
 * The directory is searched relative to the running program, so that a build
 * tree and a moved installation work. If none is found, the installation path
 * of the build is used.
 *
 * The file `gitreach` in the directory records the stock Git of the links:
 *
 *	exec path of gitreach; made by tools/exec-dir
 *	stock /usr/bin/git           the program of stock Git
 *	links /usr/lib/git-core      stock Git's own exec path
 *	version 2.39.5               the version that stock Git prints
 *	file 3726520 1740000000      size and modification time of the program
 *
 * If gitreach executes another stock Git than this one, it uses a second
 * directory. The second directory has the same programs of ours, and links to
 * the files of the other stock Git. Its path is `stock/<path of the program>`
 * below our directory, with "%2f" for a slash. It is made when it is first
 * needed by a user who may write there.
 */
#ifndef BUILTIN_EXEC_PATH_H
#define BUILTIN_EXEC_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

/*
 * Append our exec-path directory to *out. Returns 0, ERR_MISSING if there is no
 * such directory (then nothing is appended), or ERR_NOMEM.
 */
int exec_path_ours(struct buf *out, struct error *err);

/*
 * Append the directory of our manual pages, which is searched in the same way
 * as our exec-path directory. Returns 0, ERR_MISSING if there is no such
 * directory (then nothing is appended), or ERR_NOMEM.
 */
int exec_path_man(struct buf *out, struct error *err);

/*
 * The file `gitreach` of an exec-path directory, parsed. The strings point into
 * `text`; a string that the file does not record is "".
 */
struct exec_record {
	struct buf text;
	const char *stock, *links, *version;
	/* size of stock Git's program in bytes when it was recorded */
	uint64_t size;
	/* the program's modification time when it was recorded */
	int64_t mtime_sec;
};

/*
 * Read the record of an exec-path directory. If the file is missing, the record
 * is empty. Returns 0, or ERR_NOMEM. The caller must release *r in both cases.
 */
int exec_record_read(struct exec_record *r, const char *dir, struct error *err);
void exec_record_release(struct exec_record *r);

/*
 * Returns whether the record is about the program of stock Git at path `stock`,
 * and this program has not changed since the record was made.
 */
bool exec_record_is_current(const struct exec_record *r, const char *stock);

/*
 * Find the exec-path directory of ours that was made for one stock Git, and
 * append its path to *out. `stock` is the path of the program of this stock
 * Git. The directory has symbolic links to the commands of this stock Git.
 * `ours` is our main exec-path directory. The result is `ours` or a directory
 * below `ours`. Costs a few system calls and starts no process. Returns 0,
 * ERR_MISSING if there is no such directory, or ERR_NOMEM.
 */
int exec_path_find(struct buf *out, const char *ours, const char *stock,
		   struct error *err);

/*
 * Make an exec-path directory of ours for one stock Git, and append the path of
 * the new directory to *out. The new directory has symbolic links to the
 * commands of stock Git. It replaces an older directory for the same stock Git.
 * Returns 0 or a negative error code.
 * - ours: our main exec-path directory. The new directory is below it.
 * - stock: the path of the program of stock Git, such as /usr/bin/git.
 * - links: the exec path of stock Git, such as /usr/lib/git-core. The new
 *   symbolic links point to the commands in this directory.
 * - version: the version of stock Git.
 */
int exec_path_make(struct buf *out, const char *ours, const char *stock,
		   const char *links, const char *version, struct error *err);

/*
 * Append the exec path for child processes of our commands. This is the first
 * of these paths that exists:
 * - the value of GIT_EXEC_PATH;
 * - the directory that exec_path_find() finds for the stock Git that
 *   GITREACH_FALLBACK names: it has our commands, and links to this Git for all
 *   other commands;
 * - our main exec-path directory;
 * - the installation path of the build.
 *
 * Returns 0 or ERR_NOMEM.
 */
int exec_path_current(struct buf *out, struct error *err);

/*
 * If PATH is not set, set it: first the directory of the stock Git to which our
 * links lead, then the usual directories. Some programs, such as Gitea, start
 * commands without PATH. Without this function, such a command could run
 * another stock Git than other commands. Returns 0 or ERR_NOMEM.
 */
int exec_path_set_default(struct error *err);

/*
 * Prepend the path of exec_path_current() to PATH for child processes, as stock
 * Git does. exec_path_set_default() must have been called before. Returns 0 or
 * a negative error code.
 */
int exec_path_prepend(struct error *err);

#endif
