/* SPDX-License-Identifier: MIT */
/* Temporary files that are renamed into place. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sys/io.h"
#include "sys/share.h"
#include "sys/tempfile.h"

#define NAME_LEN 6      /* characters in place of XXXXXX */
#define NAME_TRIES 1000 /* names tried before we say that they are taken */

/* Replace the last NAME_LEN characters of `path` by random ones. */
static int random_name(struct buf *path, struct error *err)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	uint64_t r;

	if (getrandom(&r, sizeof(r), 0) != sizeof(r))
		return error_set_errno(err, "cannot get random bytes");
	for (size_t i = 1; i <= NAME_LEN; i++) {
		path->data[path->len - i] = letters[r % (sizeof(letters) - 1)];
		r /= sizeof(letters) - 1;
	}
	return 0;
}

/*
 * Open a file that is not there yet. The kernel applies the umask: asking for
 * it would mean changing it for all threads.
 */
static int open_fresh(struct buf *path, unsigned mode, struct error *err)
{
	for (int i = 0; i < NAME_TRIES; i++) {
		int fd = random_name(path, err);

		if (fd < 0)
			return fd;
		fd = open(path->data, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
			  SYS_SHARE_MODE(mode));
		if (fd >= 0)
			return fd;
		if (errno != EEXIST && errno != EINTR)
			break;
	}
	return error_set_errno(err, "cannot create '%s'", path->data);
}

/* Open to those whom `mode` shares it with, or not there. */
static int share(struct sys_tempfile *tf, unsigned mode, struct error *err)
{
	int ret = sys_share_fd(tf->fd, mode, tf->path, err);

	if (ret < 0)
		sys_tempfile_abort(tf);
	return ret;
}

int sys_tempfile_create(struct sys_tempfile *tf, const char *dir,
			const char *prefix, unsigned mode, struct error *err)
{
	struct buf path = BUF_INIT;

	*tf = (struct sys_tempfile)SYS_TEMPFILE_INIT;
	if (buf_printf(&path, "%s/%sXXXXXX", dir, prefix) < 0)
		return error_nomem(err);
	tf->fd = open_fresh(&path, mode, err);
	if (tf->fd < 0) {
		int ret = tf->fd;

		tf->fd = -1;
		buf_release(&path);
		return ret;
	}
	tf->path = buf_detach(&path, NULL);
	return share(tf, mode, err);
}

int sys_tempfile_create_exact(struct sys_tempfile *tf, const char *path,
			      unsigned mode, struct error *err)
{
	*tf = (struct sys_tempfile)SYS_TEMPFILE_INIT;
	tf->path = mem_strdup(path);
	if (!tf->path)
		return error_nomem(err);
	tf->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
		      SYS_SHARE_MODE(mode));
	if (tf->fd < 0) {
		error_set_errno(err, "cannot create '%s'", path);
		free(tf->path);
		tf->path = NULL;
		return ERR_IO;
	}
	return share(tf, mode, err);
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

static int make_durable(int fd, enum sys_fsync_method method)
{
	int ret = 0;

	switch (method) {
	case SYS_FSYNC_NONE:
		break;
	case SYS_FSYNC_FSYNC:
		do {
			ret = fsync(fd);
		} while (ret < 0 && errno == EINTR);
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

	/* Some file systems refuse to sync a directory; that is no failure. */
	if (fd >= 0 && fsync(fd) < 0 && errno != EINVAL)
		ret = error_set_errno(err, "cannot sync directory '%s'", path);
	if (fd >= 0)
		close(fd);
	return ret;
}

/* Make the directory entry of `path` durable. */
static int sync_parent(const char *path, struct error *err)
{
	const char *slash = strrchr(path, '/');
	char *dir = slash ? mem_strndup(path, (size_t)(slash - path) + 1)
			  : mem_strdup(".");
	int ret = dir ? sys_sync_dir(dir, err) : error_nomem(err);

	free(dir);
	return ret;
}

int sys_tempfile_commit(struct sys_tempfile *tf, const char *path,
			enum sys_fsync_method method, struct error *err)
{
	int ret = sys_tempfile_finish(tf, method, err);

	if (!ret && rename(tf->path, path) < 0)
		ret = error_set_errno(err, "cannot rename '%s' to '%s'",
				      tf->path, path);
	if (ret < 0) {
		sys_tempfile_abort(tf);
		return ret;
	}
	free(tf->path);
	*tf = (struct sys_tempfile)SYS_TEMPFILE_INIT;
	return method == SYS_FSYNC_NONE ? 0 : sync_parent(path, err);
}

void sys_tempfile_abort(struct sys_tempfile *tf)
{
	if (!tf->path)
		return;
	if (tf->fd >= 0)
		close(tf->fd);
	unlink(tf->path);
	free(tf->path);
	*tf = (struct sys_tempfile)SYS_TEMPFILE_INIT;
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
