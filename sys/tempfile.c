/* SPDX-License-Identifier: MIT */
/* Temporary files that are renamed into place. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sys/io.h"
#include "sys/tempfile.h"

static mode_t current_umask(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return mask;
}

int sys_tempfile_create(struct sys_tempfile *tf, const char *dir,
			const char *prefix, unsigned mode, struct error *err)
{
	struct buf path = BUF_INIT;

	*tf = (struct sys_tempfile)SYS_TEMPFILE_INIT;
	if (buf_printf(&path, "%s/%sXXXXXX", dir, prefix) < 0)
		return error_nomem(err);
	tf->fd = mkostemp(path.data, O_CLOEXEC);
	if (tf->fd < 0) {
		error_set_errno(err, "cannot create a temporary file in '%s'",
				dir);
		buf_release(&path);
		return ERR_IO;
	}
	tf->path = buf_detach(&path, NULL);
	if (fchmod(tf->fd, mode & ~current_umask()) < 0) {
		error_set_errno(err, "cannot set the mode of '%s'", tf->path);
		sys_tempfile_abort(tf);
		return ERR_IO;
	}
	return 0;
}

int sys_tempfile_create_exact(struct sys_tempfile *tf, const char *path,
			      unsigned mode, struct error *err)
{
	*tf = (struct sys_tempfile)SYS_TEMPFILE_INIT;
	tf->path = mem_strdup(path);
	if (!tf->path)
		return error_nomem(err);
	tf->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (tf->fd < 0) {
		error_set_errno(err, "cannot create '%s'", path);
		free(tf->path);
		tf->path = NULL;
		return ERR_IO;
	}
	return 0;
}

int sys_tempfile_write(struct sys_tempfile *tf, const void *bytes, size_t len,
		       struct error *err)
{
	return sys_write_all(tf->fd, bytes, len, tf->path, err);
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

/* Make the directory entry of `path` durable. */
static int sync_parent(const char *path, struct error *err)
{
	const char *slash = strrchr(path, '/');
	char *dir = slash ? mem_strndup(path, (size_t)(slash - path) + 1)
			  : mem_strdup(".");
	int fd, ret = 0;

	if (!dir)
		return error_nomem(err);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* Some file systems refuse to sync a directory; that is no failure. */
	if (fd >= 0 && fsync(fd) < 0 && errno != EINVAL)
		ret = error_set_errno(err, "cannot sync directory '%s'", dir);
	if (fd >= 0)
		close(fd);
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
