/* SPDX-License-Identifier: MIT */
/*
 * Checks whether stock Git would change a file's content when it stores the
 * file: line endings, $Id$, encodings, filter drivers (gitattributes(5)). We do
 * not implement these filters; we only check that none can apply.
 */
#ifndef BUILTIN_FILTERS_H
#define BUILTIN_FILTERS_H

#include "repo/repo.h"

/*
 * Check the file `path`, absolute or relative to the working directory. `repo`
 * is NULL outside of repositories. Returns 0 if no filter can apply,
 * ERR_UNSUPPORTED if one could, or another negative error code. The message of
 * ERR_UNSUPPORTED names the cause: core.autocrlf, or an attributes file for
 * this path that sets such an attribute for any path.
 */
int filters_check(const struct repo *repo, const char *path, struct error *err);

#endif
