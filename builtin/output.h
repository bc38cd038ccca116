/* SPDX-License-Identifier: MIT */
/* Printing of sizes and paths. */
#ifndef BUILTIN_OUTPUT_H
#define BUILTIN_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "repo/repo.h"

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

#endif
