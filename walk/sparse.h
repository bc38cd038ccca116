/* SPDX-License-Identifier: MIT */
/*
 * The patterns of a sparse checkout (git-sparse-checkout(1), gitignore(5)):
 * which files of a tree are included.
 *
 *	/a/         the directory a with everything below it
 *	!/a/b/      but not a/b
 *	*.c         and all C files
 *
 * The last pattern that matches a path decides. A path that no pattern matches
 * is treated like its directory. The root directory counts as not included.
 */
#ifndef WALK_SPARSE_H
#define WALK_SPARSE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct sparse;

/*
 * Parses the text of a pattern file. Every text is valid. Returns 0 with *out
 * owned by the caller, or ERR_NOMEM. After an error, *out is NULL.
 */
int sparse_parse(struct sparse **out, const char *text, size_t len,
		 struct error *err);
void sparse_free(struct sparse *sparse);

/*
 * Returns whether a path is included. `name` is the last component of `path`;
 * `path` has no slash at either end. `is_dir`: whether the path is a directory.
 * `dir`: whether the directory that contains the path is included (false if
 * this is the root directory). The path is matched against all patterns.
 */
bool sparse_takes(const struct sparse *sparse, const char *path,
		  const char *name, bool is_dir, bool dir);

#endif
