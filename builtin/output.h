/* SPDX-License-Identifier: MIT */
/* Printing of sizes, paths and progress. */
#ifndef BUILTIN_OUTPUT_H
#define BUILTIN_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "repo/repo.h"
#include "sys/progress.h"

/*
 * Print a size in its largest unit ("12 bytes", "3.50 MiB"), with two decimals.
 * Sizes in KiB and MiB are rounded; sizes in GiB are truncated.
 */
void output_size(uint64_t bytes);

/*
 * Append a path. A path that contains control characters, quotes or backslashes
 * is put in double quotes, with C escapes. If `high` (core.quotePath) is set, a
 * byte above 127 also causes quotes. Returns 0 or ERR_NOMEM.
 */
int output_append_path(struct buf *out, const char *path, size_t len,
		       bool high);

/* How paths of a repository are shortened for printing. */
struct shown_path {
	/*
	 * owned: the directory that is removed from the start of printed paths
	 */
	char *base;
	/*
	 * printed in place of "<base>/": "./" if `base` is the git directory,
	 * as in a bare repository; otherwise ""
	 */
	const char *prefix;
	enum hash_algo algo;
};

/*
 * Find the directory to which stock Git's printed paths are relative: the top
 * of the work tree, a bare repository, or else the working directory. Returns 0
 * or a negative error code.
 */
int shown_path_init(struct shown_path *shown, const struct repo *repo,
		    struct error *err);
void shown_path_release(struct shown_path *shown);

/*
 * Returns the part of `path` to print, which points into `path`. Sets *prefix
 * to the text to print before this part.
 */
const char *shown_path_get(const struct shown_path *shown, const char *path,
			   const char **prefix);

/* ---- progress meters on standard error */

/* Whether the options of a command ask for progress meters. */
enum show_progress {
	/* by default: show progress if standard error is a terminal */
	PROGRESS_IF_TERMINAL,
	PROGRESS_OFF, /* -q, --no-progress */
	PROGRESS_ON,  /* --progress */
	/*
	 * --progress of some commands: show progress, but only after the delay
	 * of output_progress()
	 */
	PROGRESS_LATE,
};

/*
 * Fill in *out and return it, or return NULL if no progress should be shown.
 * With PROGRESS_ON, a meter appears at once. Otherwise, a meter appears after
 * one second, or after the number of seconds in GIT_PROGRESS_DELAY.
 */
const struct progress_out *output_progress(struct progress_out *out,
					   enum show_progress show);

#endif
