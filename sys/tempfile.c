/* SPDX-License-Identifier: MIT */
/* Temporary files that are renamed into place. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sys/cleanup.h"
#include "sys/io.h"
#include "sys/share.h"
#include "sys/tempfile.h"

/* number of random characters that replace XXXXXX */
#define NAME_LEN 6
/* number of random names to try before giving up */
#define NAME_TRIES 1000

/* Replaces the last NAME_LEN characters of `path` by random ones. */
static int random_name(char *path, struct error *err)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	char *end = path + strlen(path);
	uint64_t r;

	int ret = sys_secret(&r, sizeof(r), err);

	if (ret < 0)
		return ret;
	for (size_t i = 1; i <= NAME_LEN; i++) {
		end[-(ptrdiff_t)i] = letters[r % (sizeof(letters) - 1)];
		r /= sizeof(letters) - 1;
	}
	return 0;
}

static void remove_companion(struct sys_tempfile *tf)
{
	if (tf->companion)
		sys_tempfile_abort(tf->companion);
	free(tf->companion);
	tf->companion = NULL;
}

/* Frees the memory of a struct sys_tempfile. The file on disk stays. */
static void forget(struct sys_tempfile *tf)
{
	sys_cleanup_free(tf->cleanup);
	free(tf->path);
	*tf = (struct sys_tempfile)SYS_TEMPFILE_INIT;
}

/*
 * Creates tf->path unless such a file exists. The kernel applies the umask to
 * `mode`. This function cannot do so, because a process cannot read its umask
 * without changing it for all threads.
 */
static int create(struct sys_tempfile *tf, unsigned mode, struct error *err)
{
	struct sys_hold section;
	int ret = sys_cleanup_new(&tf->cleanup, SYS_CLEANUP_FILE, tf->path,
				  err);

	if (ret < 0)
		return ret;
	sys_cleanup_begin(&section);
	tf->fd = open(tf->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
		      SYS_SHARE_MODE(mode));
	if (tf->fd >= 0)
		sys_cleanup_add(tf->cleanup);
	sys_cleanup_end(&section);
	if (tf->fd >= 0)
		return 0;
	ret = error_set_errno(err, "cannot create '%s'", tf->path);
	sys_cleanup_free(tf->cleanup);
	tf->cleanup = NULL;
	return ret;
}

/* Creates tf->path with a random suffix that is not in use. */
static int create_fresh(struct sys_tempfile *tf, unsigned mode,
			struct error *err)
{
	struct error io = ERROR_INIT;
	int ret = ERR_IO;

	for (int i = 0; ret && i < NAME_TRIES; i++) {
		ret = random_name(tf->path, &io);
		if (ret < 0)
			break;
		ret = create(tf, mode, &io);
		if (ret && io.sys_errno != EEXIST && io.sys_errno != EINTR)
			break;
	}
	if (ret && err)
		*err = io;
	return ret;
}

/*
 * Completes the creation of a file. `ret` is the result of creating it. If
 * `ret` is 0, and `mode` contains a share (permissions for a shared repository,
 * see sys/share.h), gives the file these permissions. After an error, releases
 * *tf. Returns 0 or a negative error code.
 */
static int settle(struct sys_tempfile *tf, int ret, unsigned mode,
		  struct error *err)
{
	if (ret < 0) {
		forget(tf);
		return ret;
	}
	ret = sys_share_fd(tf->fd, mode, tf->path, err);
	if (ret < 0)
		sys_tempfile_abort(tf);
	return ret;
}

int sys_tempfile_create(struct sys_tempfile *tf, const char *dir,
			const char *prefix, unsigned mode, struct error *err)
{
	struct buf path = BUF_INIT;

	*tf = (struct sys_tempfile)SYS_TEMPFILE_INIT;
	if (buf_printf(&path, "%s/%sXXXXXX", dir, prefix) < 0) {
		buf_release(&path);
		return error_nomem(err);
	}
	tf->path = buf_detach(&path, NULL);
	return settle(tf, create_fresh(tf, mode, err), mode, err);
}

int sys_tempfile_create_exact(struct sys_tempfile *tf, const char *path,
			      unsigned mode, struct error *err)
{
	*tf = (struct sys_tempfile)SYS_TEMPFILE_INIT;
	tf->path = mem_strdup(path);
	if (!tf->path)
		return error_nomem(err);
	return settle(tf, create(tf, mode, err), mode, err);
}

int sys_tempfile_adopt(struct sys_tempfile *tf, const char *path,
		       struct error *err)
{
	struct sys_hold section;
	int ret;

	*tf = (struct sys_tempfile)SYS_TEMPFILE_INIT;
	tf->path = mem_strdup(path);
	ret = tf->path ? sys_cleanup_new(&tf->cleanup, SYS_CLEANUP_FILE, path,
					 err)
		       : error_nomem(err);
	if (ret < 0) {
		forget(tf);
		return ret;
	}
	sys_cleanup_begin(&section);
	sys_cleanup_add(tf->cleanup);
	sys_cleanup_end(&section);
	return 0;
}

int sys_tempfile_write(struct sys_tempfile *tf, const void *bytes, size_t len,
		       struct error *err)
{
	return sys_write_all(tf->fd, bytes, len, tf->path, err);
}

int sys_tempfile_write_at(struct sys_tempfile *tf, uint64_t off,
			  const void *bytes, size_t len, struct error *err)
{
	const char *p = bytes;

	while (len) {
		ssize_t n = pwrite(tf->fd, p, len, (off_t)off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set_errno(err, "cannot write to %s",
					       tf->path);
		p += n;
		off += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

static int fsync_whole(int fd)
{
	int ret;

	do
		ret = fsync(fd);
	while (ret < 0 && errno == EINTR);
	return ret;
}

static int make_durable(int fd, enum sys_fsync_method method)
{
	int ret = 0;

	switch (method) {
	case SYS_FSYNC_NONE:
		break;
	case SYS_FSYNC_FSYNC:
		ret = fsync_whole(fd);
		break;
	case SYS_FSYNC_WRITEOUT_ONLY:
		ret = sync_file_range(fd, 0, 0,
				      SYNC_FILE_RANGE_WAIT_BEFORE |
					      SYNC_FILE_RANGE_WRITE |
					      SYNC_FILE_RANGE_WAIT_AFTER);
		break;
	}
	return ret;
}

int sys_tempfile_finish(struct sys_tempfile *tf, enum sys_fsync_method method,
			struct error *err)
{
	if (tf->fd < 0)
		return 0;
	if (make_durable(tf->fd, method) < 0)
		return error_set_errno(err, "cannot sync '%s'", tf->path);
	if (close(tf->fd) < 0) {
		tf->fd = -1;
		return error_set_errno(err, "cannot close '%s'", tf->path);
	}
	tf->fd = -1;
	return 0;
}

int sys_sync_dir(const char *path, struct error *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int ret = 0;

	if (fd < 0)
		return error_set_errno(err, "cannot open directory '%s'", path);
	/*
	 * Some file systems cannot sync a directory. Their error EINVAL is
	 * ignored.
	 */
	if (fsync_whole(fd) < 0 && errno != EINVAL)
		ret = error_set_errno(err, "cannot sync directory '%s'", path);
	close(fd);
	return ret;
}

/* Makes the directory entry of `path` durable. */
static int sync_parent(const char *path, struct error *err)
{
	const char *slash = strrchr(path, '/');
	char *dir = slash ? mem_strndup(path, (size_t)(slash - path) + 1)
			  : mem_strdup(".");
	int ret = dir ? sys_sync_dir(dir, err) : error_nomem(err);

	free(dir);
	return ret;
}

/*
 * Renames the file to its final name, and removes it from the registry of
 * sys/cleanup.h, so that no signal removes the renamed file. Both happen in one
 * section (sys_cleanup_begin()), so no signal comes in between.
 */
static int put_in_place(struct sys_tempfile *tf, const char *path,
			struct error *err)
{
	struct sys_hold section;
	int ret;

	sys_cleanup_begin(&section);
	ret = rename(tf->path, path);
	if (!ret)
		sys_cleanup_drop(tf->cleanup);
	sys_cleanup_end(&section);
	return ret < 0 ? error_set_errno(err, "cannot rename '%s' to '%s'",
					 tf->path, path)
		       : 0;
}

int sys_tempfile_place(struct sys_tempfile *tf, const char *path,
		       enum sys_fsync_method method, struct error *err)
{
	int ret;

	remove_companion(tf);
	ret = put_in_place(tf, path, err);
	if (ret < 0)
		return ret;
	forget(tf);
	return method == SYS_FSYNC_NONE ? 0 : sync_parent(path, err);
}

int sys_tempfile_commit(struct sys_tempfile *tf, const char *path,
			enum sys_fsync_method method, struct error *err)
{
	int ret = sys_tempfile_finish(tf, method, err);

	if (!ret)
		ret = sys_tempfile_place(tf, path, method, err);
	if (ret < 0)
		sys_tempfile_abort(tf);
	return ret;
}

int sys_tempfile_move(struct sys_tempfile *tf, const char *path,
		      struct error *err)
{
	struct sys_tempfile moved = SYS_TEMPFILE_INIT;
	struct sys_hold section;
	int ret;

	moved.path = mem_strdup(path);
	ret = moved.path ? sys_cleanup_new(&moved.cleanup, SYS_CLEANUP_FILE,
					   path, err)
			 : error_nomem(err);
	if (ret < 0) {
		forget(&moved);
		return ret;
	}
	sys_cleanup_begin(&section);
	ret = renameat2(AT_FDCWD, tf->path, AT_FDCWD, path, RENAME_NOREPLACE);
	if (!ret) {
		sys_cleanup_drop(tf->cleanup);
		sys_cleanup_add(moved.cleanup);
	}
	sys_cleanup_end(&section);
	if (ret < 0) {
		ret = error_set_errno(err, "cannot rename '%s' to '%s'",
				      tf->path, path);
		forget(&moved);
		return ret;
	}
	forget(tf);
	*tf = moved;
	return 0;
}

void sys_tempfile_abort(struct sys_tempfile *tf)
{
	struct sys_hold section;

	if (!tf->path)
		return;
	if (tf->fd >= 0)
		close(tf->fd);
	remove_companion(tf);
	sys_cleanup_begin(&section);
	unlink(tf->path);
	sys_cleanup_drop(tf->cleanup);
	sys_cleanup_end(&section);
	forget(tf);
}

int sys_tempfile_replace(const char *path, const void *bytes, size_t len,
			 enum sys_fsync_method method, struct error *err)
{
	struct sys_tempfile tf = SYS_TEMPFILE_INIT;
	struct buf fresh = BUF_INIT;
	int ret;

	if (buf_printf(&fresh, "%s.new", path) < 0)
		return error_nomem(err);
	ret = sys_unlink(fresh.data, err);
	if (!ret)
		ret = sys_tempfile_create_exact(&tf, fresh.data, 0666, err);
	if (!ret)
		ret = sys_tempfile_write(&tf, bytes, len, err);
	if (!ret)
		ret = sys_tempfile_commit(&tf, path, method, err);
	sys_tempfile_abort(&tf);
	buf_release(&fresh);
	return ret;
}
