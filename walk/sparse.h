/* SPDX-License-Identifier: MIT */
/*
 * The patterns of a sparse checkout (git-sparse-checkout(1), gitignore(5)):
 * which files of a tree they take in.
 *
 *	/a/         the directory a with all that is below it
 *	!/a/b/      but for a/b
 *	*.c         and all C files
 *
 * The last pattern that matches a path decides about it; where none does, it
 * is as its directory. Nothing is taken in at first.
 */
#ifndef WALK_SPARSE_H
#define WALK_SPARSE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct sparse;

/*
 * Parse the text of a pattern file. 0 with *out owned by the caller, or
 * ERR_NOMEM with *out NULL: any text is a list of patterns.
 */
int sparse_parse(struct sparse **out, const char *text, size_t len,
		 struct error *err);
void sparse_free(struct sparse *sparse);

/*
 * Whether a path is taken in. `name` is the last component of `path`, which
 * has no slash in front or behind; `dir` is the answer for its directory,
 * false for the root. Costs a match of each pattern.
 */
bool sparse_takes(const struct sparse *sparse, const char *path,
		  const char *name, bool is_dir, bool dir);

#endif
