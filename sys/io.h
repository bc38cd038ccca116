/* SPDX-License-Identifier: MIT */
/* Whole writes and reads on descriptors; directories; file facts. */
#ifndef SYS_IO_H
#define SYS_IO_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/buf.h"
#include "base/error.h"

/*
 * Write all bytes, whatever the number of system calls it takes; waits when a
 * non-blocking descriptor is full. `what` names the target in messages.
 * Returns 0 or ERR_IO (ERR_PEER for EPIPE and ECONNRESET).
 */
int sys_write_all(int fd, const void *bytes, size_t len, const char *what,
		  struct error *err);

/* As sys_write_all() for `nr` spans; the array is used up as scratch. */
int sys_writev_all(int fd, struct iovec *iov, size_t nr, const char *what,
		   struct error *err);

/*
 * Between the two no SIGPIPE comes of what this thread writes to who is gone:
 * the write fails, and that is all. The disposition of the signal, which is the
 * process's, stays. Nests; errno is kept.
 */
void sys_sigpipe_block(sigset_t *before);
void sys_sigpipe_restore(const sigset_t *before);

/* Bytes of a file that does not change, mapped as well as open. */
struct sys_file_span {
	const uint8_t *bytes; /* points into the map */
	size_t len;
	int fd;       /* borrowed: of the file, */
	uint64_t off; /* and where in it they are */
};

/*
 * As sys_write_all(), without a copy where the system knows how: pipes and
 * sockets get the pages of the file.
 */
int sys_send_file(int fd, const struct sys_file_span *span, const char *what,
		  struct error *err);

/* Let a pipe hold up to `len` bytes, if it is one and that is allowed. */
void sys_pipe_widen(int fd, size_t len);

/*
 * Read up to `len` bytes, once. Returns the number (0 at the end of file) or
 * ERR_IO / ERR_PEER.
 */
ssize_t sys_read_some(int fd, void *bytes, size_t len, const char *what,
		      struct error *err);

/* Open for reading; *len gets the size. The descriptor, ERR_MISSING, ERR_IO. */
int sys_open_read(const char *path, uint64_t *len, struct error *err);

/* Close; -1 is accepted. */
void sys_close(int fd);

/*
 * Read exactly `len` bytes at an offset, from any thread. 0 or ERR_IO, also
 * when the file is shorter.
 */
int sys_read_at(int fd, void *bytes, size_t len, uint64_t off, const char *what,
		struct error *err);

struct sys_stat {
	bool is_dir, is_file;
	bool is_link;     /* only from sys_lstat() */
	unsigned mode;    /* permission bits */
	uint64_t size;    /* bytes */
	int64_t mtime_ns; /* modification time, nanoseconds since 1970 */
	uint64_t dev, ino;
	uint32_t uid;
};

/* 0, ERR_MISSING when nothing is there, or ERR_IO. Follows symlinks. */
int sys_stat(struct sys_stat *st, const char *path, struct error *err);

/*
 * Open a regular file for reading, and look at it. What is none is refused
 * (ERR_IO), and not waited for as a pipe would be. The descriptor, ERR_MISSING
 * or ERR_IO.
 */
int sys_open_file(struct sys_stat *st, const char *path, struct error *err);

/* As sys_stat() for a symlink itself. */
int sys_lstat(struct sys_stat *st, const char *path, struct error *err);

/* Whether a file or directory exists. */
bool sys_exists(const char *path);

/*
 * Call `fn` with the name of each entry of directory `path` but "." and "..",
 * in no order; a nonzero return ends the listing and is returned. Returns 0,
 * ERR_MISSING when there is no such directory, or ERR_IO.
 */
int sys_dir_each(const char *path, int (*fn)(void *ctx, const char *name),
		 void *ctx, struct error *err);

/*
 * Create `path` and its missing parents, mode 0777 less the umask. ERR_IO
 * when something other than a directory is in the way. An empty path is the
 * working directory, which exists.
 */
int sys_mkdir_p(const char *path, struct error *err);

/* The same, and those that are made get a share (sys/share.h). */
int sys_mkdir_shared(const char *path, unsigned share, struct error *err);

/* Unlink; a missing file is no error. */
int sys_unlink(const char *path, struct error *err);

/* Set the time of modification: seconds since 1970. 0 or ERR_IO. */
int sys_set_mtime(const char *path, int64_t seconds, struct error *err);

/*
 * Set the times of access and modification to the present, as a write would.
 * Permission to write to the file is enough. Returns 0, or ERR_IO also if
 * there is no such file.
 */
int sys_touch(const char *path, struct error *err);

/*
 * Make durable all that was written to the file system `path` is on: for many
 * small files cheaper than one by one. 0 or ERR_IO.
 */
int sys_sync_file_system(const char *path, struct error *err);

/*
 * Remove a directory. 1 when done or nothing is there; 0 when it is not empty
 * or no directory; or ERR_IO.
 */
int sys_rmdir(const char *path, struct error *err);

/*
 * Remove `path` and the directories in it, all of which have to hold nothing
 * but directories. As sys_rmdir(); some of them may be gone after 0.
 */
int sys_rmdir_empty(const char *path, struct error *err);

/*
 * Append bytes to a file with one write, so that lines of several processes
 * do not mix. When it is not there it is made with this mode, less the umask,
 * which may have a share (sys/share.h); mode 0: it is not. 0, ERR_MISSING when
 * it is not there, or ERR_IO.
 */
int sys_append(const char *path, const void *bytes, size_t len, unsigned mode,
	       struct error *err);

/* Cut a file to a length that it has. 0 or ERR_IO. */
int sys_truncate(const char *path, uint64_t len, struct error *err);

/*
 * Append what can be read from `path` to *out: also a device or a pipe, which
 * sys_read_file() refuses (configuration is often "/dev/null"). Returns 0,
 * ERR_MISSING when there is no such file, ERR_IO (a directory: EISDIR) or
 * ERR_NOMEM.
 */
int sys_read_any(struct buf *out, const char *path, struct error *err);

/* Append a symlink's target to *out. 0, ERR_IO or ERR_NOMEM. */
int sys_readlink(struct buf *out, const char *path, struct error *err);

/*
 * Give a file a second name. 0; 1 when that cannot be, for the two are on
 * different file systems, or these have no such thing, or too many already;
 * or ERR_IO. A file of the new name stays: 0.
 */
int sys_link(const char *path, const char *second, struct error *err);

/* Make `path` a symlink to `target`. 0 or ERR_IO. */
int sys_symlink(const char *target, const char *path, struct error *err);

/* The effective user id. */
uint32_t sys_euid(void);

/* The absolute path of `path` with symlinks resolved; malloc()ed, or NULL. */
char *sys_realpath(const char *path, struct error *err);

#endif
