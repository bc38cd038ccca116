/* SPDX-License-Identifier: MIT */
/*
 * Directories that live for a while: made under a name that nobody has, and
 * removed with all that is in them, by a signal too (sys/cleanup.h).
 */
#ifndef SYS_TEMPDIR_H
#define SYS_TEMPDIR_H

#include "base/error.h"

struct sys_cleanup;

struct sys_tempdir {
	char *path;                  /* owned; NULL when inactive */
	struct sys_cleanup *cleanup; /* owned; NULL: signals are not ours */
};

/*
 * Create "<dir>/<prefix>XXXXXX", open to its owner only. 0 or a negative error
 * with *td inactive.
 */
int sys_tempdir_create(struct sys_tempdir *td, const char *dir,
		       const char *prefix, struct error *err);

/*
 * Remove it and everything below, if active. Nothing can be done about what
 * stays; housekeeping finds it.
 */
void sys_tempdir_release(struct sys_tempdir *td);

/*
 * Remove a directory and everything below it; symlinks are removed, not
 * followed. 0, also when nothing is there, or ERR_IO at the first failure.
 */
int sys_tempdir_remove(const char *path, struct error *err);

/* Rename, replacing what is there. 0 or ERR_IO. */
int sys_rename(const char *from, const char *to, struct error *err);

#endif
