/* SPDX-License-Identifier: MIT */
/*
 * Reads and writes of whole ranges of bytes on descriptors; directories; file
 * attributes.
 */
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
 * Writes all bytes, with as many system calls as needed. Waits while a
 * non-blocking descriptor is full. `what` names the target in messages. Returns
 * 0, ERR_PEER for EPIPE and ECONNRESET, or ERR_IO.
 */
int sys_write_all(int fd, const void *bytes, size_t len, const char *what,
		  struct error *err);

/* Works like sys_write_all() for `nr` spans. The array is modified. */
int sys_writev_all(int fd, struct iovec *iov, size_t nr, const char *what,
		   struct error *err);

/*
 * sys_sigpipe_block() blocks SIGPIPE in this thread, and sys_sigpipe_restore()
 * restores the previous state. Between both calls, a write to a closed pipe or
 * socket returns EPIPE and sends no signal. The disposition of the signal
 * belongs to the process and does not change. Calls nest. errno is preserved.
 */
void sys_sigpipe_block(sigset_t *before);
void sys_sigpipe_restore(const sigset_t *before);

/*
 * A range of bytes of an open file that is also mapped. The file must not
 * change.
 */
struct sys_file_span {
	const uint8_t *bytes; /* points into the map */
	size_t len;
	/* borrowed: open descriptor of the mapped file */
	int fd;
	/* offset of the bytes in the file */
	uint64_t off;
};

/*
 * Works like sys_write_all(), but avoids copying: pipes and sockets receive the
 * pages of the file if the system supports that.
 */
int sys_send_file(int fd, const struct sys_file_span *span, const char *what,
		  struct error *err);

/*
 * Lets a pipe hold up to `len` bytes. Does nothing if `fd` is not a pipe or the
 * size is not allowed.
 */
void sys_pipe_widen(int fd, size_t len);

/*
 * Reads up to `len` bytes with one system call. Returns the number of bytes, 0
 * at the end of the file, or ERR_IO or ERR_PEER.
 */
ssize_t sys_read_some(int fd, void *bytes, size_t len, const char *what,
		      struct error *err);

/*
 * Opens a file for reading. *len is set to its size. Returns the descriptor,
 * ERR_MISSING or ERR_IO.
 */
int sys_open_read(const char *path, uint64_t *len, struct error *err);

/* Closes a descriptor. -1 is allowed. */
void sys_close(int fd);

/*
 * Reads exactly `len` bytes at an offset. Any thread may call this. Returns 0
 * or ERR_IO. A file that is too short is ERR_IO, too.
 */
int sys_read_at(int fd, void *bytes, size_t len, uint64_t off, const char *what,
		struct error *err);

/*
 * Writes `len` bytes at an offset of an open file. Any thread may call this.
 * Returns 0 or ERR_IO. After an error, some of the bytes may be written.
 */
int sys_write_at(int fd, const void *bytes, size_t len, uint64_t off,
		 const char *what, struct error *err);

struct sys_stat {
	bool is_dir, is_file;
	bool is_link;  /* set by sys_lstat() only */
	unsigned mode; /* permission bits */
	uint64_t size; /* bytes */
	/* modification time, nanoseconds since 1970 */
	int64_t mtime_ns;
	uint64_t dev, ino;
	uint64_t link_nr; /* names that the file has */
	uint32_t uid;
};

/*
 * Fills *st with the attributes of a file; follows symlinks. Returns 0,
 * ERR_MISSING if nothing exists at `path`, or ERR_IO.
 */
int sys_stat(struct sys_stat *st, const char *path, struct error *err);

/*
 * Opens a regular file for reading and fills *st. Any other kind of file is
 * ERR_IO. For a pipe, the function does not wait for a writer. Returns the
 * descriptor, ERR_MISSING or ERR_IO.
 */
int sys_open_file(struct sys_stat *st, const char *path, struct error *err);

/*
 * Works like sys_stat(), but if `path` is a symlink, gives the attributes of
 * the symlink itself.
 */
int sys_lstat(struct sys_stat *st, const char *path, struct error *err);

/* Returns whether two results of sys_stat() are of the same file. */
static inline bool sys_is_same(const struct sys_stat *a,
			       const struct sys_stat *b)
{
	return a->dev == b->dev && a->ino == b->ino;
}

/* Returns whether a file or directory exists. */
bool sys_exists(const char *path);

/*
 * Returns 1 if this process may execute the file or search the directory at
 * `path`, 0 if nothing exists there, or ERR_DENIED.
 */
int sys_may_execute(const char *path);

/*
 * Calls `fn` with the name of each entry of directory `path` except "." and
 * "..", in no particular order. A nonzero result of `fn` ends the listing and
 * is returned. Otherwise returns 0, ERR_MISSING if there is no such directory,
 * or ERR_IO.
 */
int sys_dir_each(const char *path, int (*fn)(void *ctx, const char *name),
		 void *ctx, struct error *err);

/*
 * Creates `path` and its missing parents, with mode 0777 minus the umask.
 * Returns 0 if the directory exists now, or if `path` is empty (the working
 * directory). Returns ERR_IO otherwise, for instance if a file is in the way.
 */
int sys_mkdir_p(const char *path, struct error *err);

/*
 * Works like sys_mkdir_p(), and gives each directory that it creates the
 * permissions in `share` (sys/share.h).
 */
int sys_mkdir_shared(const char *path, unsigned share, struct error *err);

/* Unlinks a file. A missing file is not an error. Returns 0 or ERR_IO. */
int sys_unlink(const char *path, struct error *err);

/*
 * Sets the modification time of a file, in seconds since 1970. Returns 0 or
 * ERR_IO.
 */
int sys_set_mtime(const char *path, int64_t seconds, struct error *err);

/*
 * Sets the times of access and modification to the present, as a write would.
 * Permission to write to the file is enough. Returns 0 or ERR_IO. A missing
 * file is ERR_IO, too.
 */
int sys_touch(const char *path, struct error *err);

/*
 * Measures the file system that contains `path`, in bytes. *total is its size.
 * *available is what an unprivileged process can still write. Returns 0 or
 * ERR_IO.
 */
int sys_disk_space(uint64_t *total, uint64_t *available, const char *path,
		   struct error *err);

/*
 * Makes everything durable that was written to the file system that contains
 * `path`. For many small files, one call of this function takes less time than
 * syncing each file. Returns 0 or ERR_IO.
 */
int sys_sync_file_system(const char *path, struct error *err);

/*
 * Removes a directory. Returns 1 if the directory is removed or did not exist,
 * 0 if it is not empty or not a directory, or ERR_IO.
 */
int sys_rmdir(const char *path, struct error *err);

/*
 * Removes `path` and the directories below it, if they contain nothing but
 * directories. A symbolic link counts as a file and is not followed. Returns 1
 * if `path` is removed or did not exist. Returns 0 if `path` stays, because
 * there is a file in it or below; some directories below `path` may be removed.
 * Returns ERR_IO after an error.
 */
int sys_rmdir_empty(const char *path, struct error *err);

/*
 * Appends bytes to a file with one write, so that lines of several processes do
 * not mix. If `mode` is not 0, a missing file is created with this mode minus
 * the umask. The mode may contain permissions for a shared repository
 * (sys/share.h). Returns 0, ERR_MISSING if the file is missing and `mode` is 0,
 * or ERR_IO.
 */
int sys_append(const char *path, const void *bytes, size_t len, unsigned mode,
	       struct error *err);

/*
 * Truncates a file to `len` bytes. `len` must not exceed the present length.
 * Returns 0 or ERR_IO.
 */
int sys_truncate(const char *path, uint64_t len, struct error *err);

/*
 * Appends the content of `path` to *out. In contrast to sys_read_file(), `path`
 * may be a device or a pipe, such as "/dev/null". Returns 0, ERR_MISSING if
 * there is no such file, ERR_IO or ERR_NOMEM. For a directory, returns ERR_IO
 * with errno EISDIR.
 */
int sys_read_any(struct buf *out, const char *path, struct error *err);

/* Appends a symlink's target to *out. Returns 0, ERR_IO or ERR_NOMEM. */
int sys_readlink(struct buf *out, const char *path, struct error *err);

/*
 * Gives a file a second name. If a file named `second` exists already, it is
 * kept. Returns 0 if a file named `second` exists now. Returns 1 if the link is
 * impossible: the names are on different file systems, the file system has no
 * hard links, or the file has too many names. Returns ERR_IO otherwise.
 */
int sys_link(const char *path, const char *second, struct error *err);

/*
 * Gives a file the second name `second`. Returns 0 on success, 1 if something
 * with this name exists already, or ERR_IO.
 */
int sys_link_new(const char *path, const char *second, struct error *err);

/* Makes `path` a symlink to `target`. Returns 0 or ERR_IO. */
int sys_symlink(const char *target, const char *path, struct error *err);

/* Returns the effective user id. */
uint32_t sys_euid(void);

/*
 * Returns the absolute path of `path` with symlinks resolved, or NULL. The
 * caller frees it with free().
 */
char *sys_realpath(const char *path, struct error *err);

/*
 * Returns the directory that has the last component of a path, malloc()ed: "."
 * for "x", "/" for "/x", and "a" for "a/x" and "a/x/". Nothing on disk is read.
 * NULL: memory ran out.
 */
char *sys_parent(const char *path);

/*
 * Works like sys_realpath() for a path whose last components may be missing on
 * disk. The missing components are appended unchanged; none of them may be "."
 * or "..".
 */
char *sys_realpath_missing(const char *path, struct error *err);

/*
 * Sets *target to the path of the file that `path` leads to, malloc()ed. While
 * the last component of the path is a symbolic link, the path is replaced by
 * the text of the link. A relative text begins in the directory of the link.
 * The file may be missing; links in other components stay as they are. Without
 * links, *target is a copy of `path`. Returns 0, ERR_IO (for a loop of links
 * with ELOOP) or ERR_NOMEM. After an error, *target is NULL.
 */
int sys_follow_links(char **target, const char *path, struct error *err);

/*
 * Writes at most 4096 bytes to a stream that another process reads. If the
 * stream does not accept them within `wait_ms` milliseconds, the bytes are
 * lost. If `wait_ms` is 0, the function does not wait, and writes only to a
 * pipe or a socket.
 */
void sys_write_ready(int fd, const void *bytes, size_t len, int wait_ms);

/* Random bytes that nobody can guess. */

/* Fills `out` with `len` random bytes, at most 256. Returns 0 or ERR_IO. */
int sys_secret(void *out, size_t len, struct error *err);

#endif
