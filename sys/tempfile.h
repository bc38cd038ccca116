/* SPDX-License-Identifier: MIT */
/*
 * Files that appear whole or not at all.
 *
 * A temporary file in the target's directory is written, fsynced if the
 * policy says so, and renamed onto its final name. Nobody sees a part of it.
 * A signal removes what is not renamed (sys/cleanup.h). A process that is
 * killed by SIGKILL leaves at most a file named after the template, which Git's
 * own housekeeping removes.
 */
#ifndef SYS_TEMPFILE_H
#define SYS_TEMPFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct sys_cleanup;

/* How core.fsyncMethod wants data made durable. */
enum sys_fsync_method {
	SYS_FSYNC_NONE,          /* component not listed in core.fsync */
	SYS_FSYNC_FSYNC,         /* fsync(2) */
	SYS_FSYNC_WRITEOUT_ONLY, /* start writing, do not wait for the disk */
};

/* One writer; not shared between threads. */
struct sys_tempfile {
	int fd;                      /* -1 when closed */
	char *path;                  /* owned; NULL when inactive */
	struct sys_cleanup *cleanup; /* owned; NULL: signals are not ours */
};

#define SYS_TEMPFILE_INIT                                                      \
	{                                                                      \
		-1, NULL, NULL                                                 \
	}

/*
 * Create a fresh file "<dir>/<prefix>XXXXXX" with mode `mode` less the umask,
 * which may have a share (sys/share.h).
 * Returns 0 or a negative error with *tf inactive.
 */
int sys_tempfile_create(struct sys_tempfile *tf, const char *dir,
			const char *prefix, unsigned mode, struct error *err);

/* As above with exactly this path, failing if it exists: a lock file. */
int sys_tempfile_create_exact(struct sys_tempfile *tf, const char *path,
			      unsigned mode, struct error *err);

/*
 * Take a file that is there, and closed, as one that goes by abort() or by a
 * signal. Call it with signals held if it was made just now. 0, or ERR_NOMEM
 * with *tf inactive.
 */
int sys_tempfile_adopt(struct sys_tempfile *tf, const char *path,
		       struct error *err);

/* Append bytes. */
int sys_tempfile_write(struct sys_tempfile *tf, const void *bytes, size_t len,
		       struct error *err);

/*
 * Overwrite bytes at an offset, for headers that are known last; what is
 * appended next still goes to the end.
 */
int sys_tempfile_write_at(struct sys_tempfile *tf, uint64_t off,
			  const void *bytes, size_t len, struct error *err);

/* Make the bytes durable and close the descriptor; the name stays. */
int sys_tempfile_finish(struct sys_tempfile *tf, enum sys_fsync_method method,
			struct error *err);

/*
 * Finish if that was not done, rename onto `path`, and make the directory
 * entry durable too unless method is SYS_FSYNC_NONE. The tempfile is inactive
 * afterwards, also on failure: the file is removed then, or stands under its
 * final name when only syncing the directory failed.
 */
int sys_tempfile_commit(struct sys_tempfile *tf, const char *path,
			enum sys_fsync_method method, struct error *err);

/*
 * Replace the file `path` by these bytes, or make it, by way of "<path>.new".
 * One of that name is left of a process that died, and goes: whoever calls
 * this has kept others out. 0 or ERR_IO.
 */
int sys_tempfile_replace(const char *path, const void *bytes, size_t len,
			 enum sys_fsync_method method, struct error *err);

/*
 * Make the names in a directory durable. Returns 0, also if the file system
 * cannot sync directories, or ERR_IO, also if the directory cannot be opened.
 */
int sys_sync_dir(const char *path, struct error *err);

/* Close and unlink, if active. */
void sys_tempfile_abort(struct sys_tempfile *tf);

#endif
