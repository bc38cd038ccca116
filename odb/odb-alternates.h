/* SPDX-License-Identifier: MIT */
/*
 * Alternate object directories: objects/info/alternates, one path a line,
 * "#" comments, paths in double quotes as C strings, relative ones relative
 * to the object directory (gitrepository-layout(5)); and
 * GIT_ALTERNATE_OBJECT_DIRECTORIES, the same separated by ':'.
 */
#ifndef ODB_ODB_ALTERNATES_H
#define ODB_ODB_ALTERNATES_H

#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "repo/repo.h"

/*
 * All object directories of a repository: its own as it is named, then the
 * alternates by their real paths, each followed by its own alternates, each
 * directory once. Missing ones and those nested more than 5 deep are left
 * out and described in *warning. The array and its strings are malloc()ed
 * for the caller. 0 or a negative error.
 */
int odb_alternates_list(char ***dirs, size_t *dir_nr, const struct repo *repo,
			struct error *warning, struct error *err);

/*
 * Take the next path from *list, which is separated by `sep`, into *path
 * (reset first), quotes undone. False at the end; *path may be empty.
 * ERR_NOMEM is reported in *ret.
 */
bool odb_alternates_next(struct buf *path, const char **list, char sep,
			 int *ret);

#endif
