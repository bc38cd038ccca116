/* SPDX-License-Identifier: MIT */
/* How commands print sizes and paths. */
#ifndef BUILTIN_OUTPUT_H
#define BUILTIN_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "repo/repo.h"

/*
 * Print a size in its largest unit ("12 bytes", "3.50 MiB"), with two
 * decimals; gibibytes are not rounded.
 */
void output_size(uint64_t bytes);

/*
 * Append a path as it is, or in double quotes with C escapes when it has
 * control characters, quotes or backslashes, or (`high`: core.quotePath) bytes
 * past ASCII. 0 or ERR_NOMEM.
 */
int output_append_path(struct buf *out, const char *path, size_t len,
		       bool high);

struct shown_path {
	char *base;         /* owned: paths below it are shown without it */
	const char *prefix; /* before those: "./" in a bare repository */
	enum hash_algo algo;
};

/*
 * Where the stock Git is when it prints a path: at the top of the work tree,
 * in a bare repository, else in the working directory. 0 or a negative error.
 */
int shown_path_init(struct shown_path *shown, const struct repo *repo,
		    struct error *err);
void shown_path_release(struct shown_path *shown);

/* What is left of the path; points into it. `prefix` gets what goes before. */
const char *shown_path_get(const struct shown_path *shown, const char *path,
			   const char **prefix);

#endif
