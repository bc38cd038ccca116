/* SPDX-License-Identifier: MIT */
/*
 * Finds the alternate object directories of a repository. Paths of these
 * directories come from two places. The file objects/info/alternates
 * (gitrepository-layout(5)) has one path per line. A "#" starts a comment, a
 * path in double quotes is a C string, and a relative path is relative to the
 * object directory. The environment variable GIT_ALTERNATE_OBJECT_DIRECTORIES
 * has paths separated by ':'.
 */
#ifndef ODB_ODB_ALTERNATES_H
#define ODB_ODB_ALTERNATES_H

#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "repo/repo.h"

/*
 * Lists all object directories of a repository: first its own directory under
 * the name by which it was opened, then the alternates under their real paths.
 * Each alternate is followed by its own alternates, and no directory is listed
 * twice. A directory that is missing, or nested more than 5 levels deep, is
 * left out and described in *warning. The array and its strings are malloc()ed
 * for the caller. Returns 0 or a negative error code.
 */
int odb_alternates_list(char ***dirs, size_t *dir_nr, const struct repo *repo,
			struct error *warning, struct error *err);

/*
 * Takes the next path from *list, whose paths are separated by `sep`, into
 * *path. The old content of *path is replaced, and quotes are removed. *path
 * may become empty. Returns false at the end. If memory runs out, returns false
 * and sets *ret to ERR_NOMEM.
 */
bool odb_alternates_next(struct buf *path, const char **list, char sep,
			 int *ret);

#endif
