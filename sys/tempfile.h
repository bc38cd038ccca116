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

/* The method of making data durable: core.fsyncMethod. */
enum sys_fsync_method {
	/* the component is not listed in core.fsync */
	SYS_FSYNC_NONE,
	SYS_FSYNC_FSYNC, /* fsync(2) */
	/* start writing, but do not wait for the disk */
	SYS_FSYNC_WRITEOUT_ONLY,
};

/* One writer; not shared between threads. */
struct sys_tempfile {
	int fd;     /* -1 if closed */
	char *path; /* owned; NULL if inactive */
	/* owned; NULL if signals are not caught */
	struct sys_cleanup *cleanup;
	/*
	 * Owned; NULL if there is none. A second file, which is removed before
	 * this one is renamed or removed.
	 */
	struct sys_tempfile *companion;
};

#define SYS_TEMPFILE_INIT                                                      \
	{                                                                      \
		-1, NULL, NULL, NULL                                           \
	}

/*
 * Creates a new file "<dir>/<prefix>XXXXXX" with mode `mode` minus the umask.
 * The mode may contain a share (sys/share.h). Returns 0 or a negative error
 * code with *tf inactive.
 */
int sys_tempfile_create(struct sys_tempfile *tf, const char *dir,
			const char *prefix, unsigned mode, struct error *err);

/*
 * Works like sys_tempfile_create() with exactly this path. It is an error if
 * the file exists, so this can create lock files.
 */
int sys_tempfile_create_exact(struct sys_tempfile *tf, const char *path,
			      unsigned mode, struct error *err);

/*
 * Takes over an existing, closed file: sys_tempfile_abort() or a signal will
 * remove it. If the file was just made, the caller holds signals meanwhile
 * (sys_hold_signals()). Returns 0, or ERR_NOMEM with *tf inactive.
 */
int sys_tempfile_adopt(struct sys_tempfile *tf, const char *path,
		       struct error *err);

/* Appends bytes. Returns 0 or a negative error code. */
int sys_tempfile_write(struct sys_tempfile *tf, const void *bytes, size_t len,
		       struct error *err);

/*
 * Overwrites bytes at an offset, for headers that are known last. Later appends
 * still go to the end. Returns 0 or ERR_IO.
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
 * Finishes the file if that was not done, and renames it to `path`. Unless
 * `method` is SYS_FSYNC_NONE, the directory entry is made durable too. Returns
 * 0 or a negative error code.
 *
 * The tempfile is inactive afterwards, also after an error. After an error the
 * file is removed. If only syncing the directory failed, the file has its final
 * name.
 */
int sys_tempfile_commit(struct sys_tempfile *tf, const char *path,
			enum sys_fsync_method method, struct error *err);

/*
 * Replaces or creates the file `path` with these bytes, through the temporary
 * name "<path>.new". The caller must hold a lock: a leftover "<path>.new" of a
 * process that died is removed. Returns 0 or a negative error code.
 */
int sys_tempfile_replace(const char *path, const void *bytes, size_t len,
			 enum sys_fsync_method method, struct error *err);

/*
 * Makes the names in a directory durable. Returns 0, also if the file system
 * cannot sync directories, or ERR_IO, also if the directory cannot be opened.
 */
int sys_sync_dir(const char *path, struct error *err);

/* Closes and unlinks the file, if active. */
void sys_tempfile_abort(struct sys_tempfile *tf);

#endif
