/* SPDX-License-Identifier: MIT */
/*
 * Files that appear complete or not at all.
 *
 * A temporary file in the directory of the target is written, fsynced if the
 * policy requires that, and renamed to its final name. So no process sees a
 * part of the file. A signal removes a file that is not renamed yet
 * (sys/cleanup.h). After SIGKILL a file with the temporary name may remain,
 * which Git's housekeeping removes.
 */
#ifndef SYS_TEMPFILE_H
#define SYS_TEMPFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct sys_cleanup;

/* How to make data durable, as in core.fsyncMethod. */
enum sys_fsync_method {
	/* do not sync; used for files that core.fsync does not name */
	SYS_FSYNC_NONE,
	SYS_FSYNC_FSYNC, /* fsync(2) */
	/*
	 * start writing the bytes to the disk, but do not wait until they are
	 * there
	 */
	SYS_FSYNC_WRITEOUT_ONLY,
};

/* A temporary file and its writer. One thread at a time may use it. */
struct sys_tempfile {
	int fd;     /* -1 if closed */
	char *path; /* owned; NULL if inactive */
	/* owned; NULL: signals are not caught, so no signal removes the file */
	struct sys_cleanup *cleanup;
	/*
	 * Owned: a second temporary file (the PID file of a lock file), which
	 * is removed before this file is renamed or removed. NULL: none.
	 */
	struct sys_tempfile *companion;
};

#define SYS_TEMPFILE_INIT                                                      \
	{                                                                      \
		-1, NULL, NULL, NULL                                           \
	}

/*
 * Creates a new file "<dir>/<prefix>XXXXXX" with mode `mode` minus the umask.
 * The mode may contain permissions for a shared repository (sys/share.h).
 * Returns 0 or a negative error code. After an error, *tf is inactive.
 */
int sys_tempfile_create(struct sys_tempfile *tf, const char *dir,
			const char *prefix, unsigned mode, struct error *err);

/*
 * Works like sys_tempfile_create(), but creates exactly `path`. It is an error
 * if the file exists, so this function can create lock files.
 */
int sys_tempfile_create_exact(struct sys_tempfile *tf, const char *path,
			      unsigned mode, struct error *err);

/*
 * Takes over an existing, closed file: sys_tempfile_abort() or a signal will
 * remove it. A caller that has just made the file must hold signals from the
 * creation to this call (sys_hold_signals()). Returns 0 or ERR_NOMEM. After an
 * error, *tf is inactive.
 */
int sys_tempfile_adopt(struct sys_tempfile *tf, const char *path,
		       struct error *err);

/* Appends bytes. Returns 0 or a negative error code. */
int sys_tempfile_write(struct sys_tempfile *tf, const void *bytes, size_t len,
		       struct error *err);

/*
 * Overwrites `len` bytes at the offset `off`, for a header whose content is
 * known only at the end. Later calls of sys_tempfile_write() still append to
 * the file. Returns 0 or ERR_IO.
 */
int sys_tempfile_write_at(struct sys_tempfile *tf, uint64_t off,
			  const void *bytes, size_t len, struct error *err);

/*
 * Makes the bytes durable and closes the descriptor. The file keeps its
 * temporary name. Returns 0 or ERR_IO.
 */
int sys_tempfile_finish(struct sys_tempfile *tf, enum sys_fsync_method method,
			struct error *err);

/*
 * Calls sys_tempfile_finish() if it was not called, and renames the file to
 * `path`. Unless `method` is SYS_FSYNC_NONE, also makes the directory entry
 * durable. Returns 0 or a negative error code.
 *
 * *tf is inactive afterwards. After an error the file is removed, with one
 * exception: if only syncing the directory failed, the file has its final name.
 */
int sys_tempfile_commit(struct sys_tempfile *tf, const char *path,
			enum sys_fsync_method method, struct error *err);

/*
 * Works like sys_tempfile_commit() for a file on which sys_tempfile_finish()
 * has succeeded. But if the rename fails, the file keeps its temporary name and
 * *tf stays active. So a caller can repair the cause and try again, and a lock
 * file stays a lock.
 */
int sys_tempfile_place(struct sys_tempfile *tf, const char *path,
		       enum sys_fsync_method method, struct error *err);

/*
 * Renames the file to another temporary name, `path`, unless a file of that
 * name exists. So a lock file becomes the lock of another file, in one step and
 * without a new inode. The caller must have closed the descriptor
 * (sys_tempfile_finish()). tf->companion must be NULL: a lock file that has a
 * PID file cannot be moved. *tf stays active. Returns 0 or a negative error
 * code. If a file `path` exists, this is ERR_IO with EEXIST in err->sys_errno.
 * If the file system cannot rename in this way, it is ERR_IO with EINVAL. After
 * an error nothing has changed.
 */
int sys_tempfile_move(struct sys_tempfile *tf, const char *path,
		      struct error *err);

/*
 * Replaces or creates the file `path` with the given content, through the
 * temporary file "<path>.new". The caller must hold a lock, so that no other
 * process writes "<path>.new" at the same time. An existing "<path>.new" was
 * left by a process that died, and is removed. Returns 0 or a negative error
 * code.
 */
int sys_tempfile_replace(const char *path, const void *bytes, size_t len,
			 enum sys_fsync_method method, struct error *err);

/*
 * Makes the entries of a directory durable. Returns 0, also if the file system
 * cannot sync directories. Returns ERR_IO otherwise, for example if the
 * directory cannot be opened.
 */
int sys_sync_dir(const char *path, struct error *err);

/* Closes and unlinks the file. Does nothing if *tf is inactive. */
void sys_tempfile_abort(struct sys_tempfile *tf);

#endif
