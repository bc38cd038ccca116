/* SPDX-License-Identifier: MIT */
/*
 * Whether Git would change a file's content on its way into the repository:
 * line endings, $Id$, encodings, filter drivers (gitattributes(5)). We do not
 * have these; what can be told is that none could apply.
 */
#ifndef BUILTIN_FILTERS_H
#define BUILTIN_FILTERS_H

#include "repo/repo.h"

/*
 * 0 when no filter can apply to the file `path` (relative to the working
 * directory, or absolute; `repo` NULL: outside of repositories), another error,
 * or ERR_UNSUPPORTED naming what asks for one:
 * core.autocrlf, or an attributes file that is read for this path and sets
 * one of the attributes in question for any path.
 */
int filters_check(const struct repo *repo, const char *path, struct error *err);

#endif
