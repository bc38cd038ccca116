/* SPDX-License-Identifier: MIT */
/*
 * Directories that live for a while: made under a name that nobody has, and
 * removed with all that is in them.
 */
#ifndef SYS_TEMPDIR_H
#define SYS_TEMPDIR_H

#include "base/error.h"

/*
 * Create "<dir>/<prefix>XXXXXX", open to its owner only. *path is malloc()ed
 * for the caller. 0 or a negative error with *path NULL.
 */
int sys_tempdir_create(char **path, const char *dir, const char *prefix,
		       struct error *err);

/*
 * Remove a directory and everything below it; symlinks are removed, not
 * followed. 0, also when nothing is there, or ERR_IO at the first failure.
 */
int sys_tempdir_remove(const char *path, struct error *err);

/* Rename, replacing what is there. 0 or ERR_IO. */
int sys_rename(const char *from, const char *to, struct error *err);

#endif
