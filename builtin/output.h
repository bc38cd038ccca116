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
 * Kibibytes and mebibytes are rounded, gibibytes are truncated.
 */
void output_size(uint64_t bytes);

/*
 * Append a path. It is put in double quotes with C escapes if it contains
 * control characters, quotes or backslashes. With `high` (core.quotePath),
 * bytes above ASCII are quoted, too. Returns 0 or ERR_NOMEM.
 */
int output_append_path(struct buf *out, const char *path, size_t len,
		       bool high);

/* How paths of a repository are shortened for printing. */
struct shown_path {
	/* owned: removed from the start of paths */
	char *base;
	/* put before such paths: "./" in a bare repository */
	const char *prefix;
	enum hash_algo algo;
};

/*
 * Find the directory that stock Git prints paths relative to: the top of the
 * work tree, a bare repository, or else the working directory. Returns 0 or a
 * negative error code.
 */
int shown_path_init(struct shown_path *shown, const struct repo *repo,
		    struct error *err);
void shown_path_release(struct shown_path *shown);

/*
 * Returns the part of `path` to print, which points into `path`. *prefix gets
 * the text to print before it.
 */
const char *shown_path_get(const struct shown_path *shown, const char *path,
			   const char **prefix);

/* ---- progress meters on standard error */

/* What the command line says about progress. */
enum show_progress {
	/* the default: if standard error is a terminal */
	PROGRESS_IF_TERMINAL,
	PROGRESS_OFF, /* -q, --no-progress */
	PROGRESS_ON,  /* --progress */
	/* --progress, but only if the work takes long */
	PROGRESS_LATE,
};

/*
 * Fill in *out and return it, or return NULL if no progress should be shown.
 * With PROGRESS_IF_TERMINAL and PROGRESS_LATE a meter appears after a second,
 * or after the seconds that GIT_PROGRESS_DELAY gives.
 */
const struct progress_out *output_progress(struct progress_out *out,
					   enum show_progress show);

#endif
