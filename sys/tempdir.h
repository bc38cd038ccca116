/* SPDX-License-Identifier: MIT */
/*
 * Temporary directories. A temporary directory is made under a unique name. It
 * is removed with its content, even if a signal ends the process
 * (sys/cleanup.h).
 */
#ifndef SYS_TEMPDIR_H
#define SYS_TEMPDIR_H

#include "base/error.h"
#include "sys/cleanup.h"

/* A temporary directory. Inactive if `path` is NULL. */
struct sys_tempdir {
	char *path; /* owned; NULL if inactive */
	/*
	 * owned; NULL: signals are not caught, so no signal removes the
	 * directory
	 */
	struct sys_cleanup *cleanup;
	struct sys_dir_handle handle; /* owned */
};

#define SYS_TEMPDIR_INIT                                                       \
	{                                                                      \
		NULL, NULL, SYS_DIR_HANDLE_INIT                                \
	}

/*
 * Creates "<dir>/<prefix>XXXXXX", with access for its owner only. Keeps two
 * descriptors open, so that the directory and its subdirectories can be removed
 * when the process has no free descriptor. Returns 0 or a negative error code.
 * After an error, *td is inactive.
 */
int sys_tempdir_create(struct sys_tempdir *td, const char *dir,
		       const char *prefix, struct error *err);

/*
 * Removes the directory and everything below it. Returns 0, also if *td is not
 * active or the directory does not exist, or ERR_IO.
 */
int sys_tempdir_drop(struct sys_tempdir *td, struct error *err);

/*
 * Works like sys_tempdir_drop(), and makes *td inactive. Ignores errors: a
 * directory that could not be removed stays on disk.
 */
void sys_tempdir_release(struct sys_tempdir *td);

/* Makes *td inactive, and leaves the directory and its content. */
void sys_tempdir_keep(struct sys_tempdir *td);

/*
 * Removes a directory and everything below it. Symlinks are removed, not
 * followed. Returns 0, also if nothing exists at `path`, or ERR_IO at the first
 * failure.
 */
int sys_tempdir_remove(const char *path, struct error *err);

/*
 * Renames the file or directory `from` to `to`, which is replaced if it exists.
 * Returns 0 or ERR_IO.
 */
int sys_rename(const char *from, const char *to, struct error *err);

#endif
