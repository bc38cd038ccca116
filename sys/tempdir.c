/* SPDX-License-Identifier: MIT */
/* Temporary directories. */
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "sys/cleanup.h"
#include "sys/tempdir.h"

/*
 * maximum number of descriptors that are open at one time while a directory
 * tree is removed
 */
enum { OPEN_DIRS = 16 };

/*
 * Registers td->path with sys/cleanup.h, so that a signal removes the
 * directory.
 */
static int enroll(struct sys_tempdir *td, struct error *err)
{
	struct sys_hold section;
	int ret = sys_cleanup_new(&td->cleanup, SYS_CLEANUP_DIR, td->path, err);

	sys_cleanup_use_handle(td->cleanup, &td->handle);
	sys_cleanup_begin(&section);
	sys_cleanup_add(td->cleanup);
	sys_cleanup_end(&section);
	return ret;
}

int sys_tempdir_create(struct sys_tempdir *td, const char *dir,
		       const char *prefix, struct error *err)
{
	struct buf path = BUF_INIT;
	struct sys_hold hold;
	int ret = 0;

	*td = (struct sys_tempdir)SYS_TEMPDIR_INIT;
	if (buf_printf(&path, "%s/%sXXXXXX", dir, prefix) < 0) {
		buf_release(&path);
		return error_nomem(err);
	}
	td->path = buf_detach(&path, NULL);
	sys_hold_signals(&hold);
	if (!mkdtemp(td->path)) {
		ret = error_set_errno(err, "cannot create '%s'", td->path);
	} else {
		ret = sys_dir_handle_open(&td->handle, td->path, err);
		if (!ret)
			ret = enroll(td, err);
		if (ret < 0)
			rmdir(td->path);
	}
	sys_release_signals(&hold);
	if (ret < 0) {
		sys_dir_handle_close(&td->handle);
		free(td->path);
		td->path = NULL;
	}
	return ret;
}

int sys_tempdir_drop(struct sys_tempdir *td, struct error *err)
{
	if (td->path && sys_cleanup_remove_dir(td->path, &td->handle) < 0)
		return error_set_errno(err, "cannot remove '%s'", td->path);
	return 0;
}

void sys_tempdir_release(struct sys_tempdir *td)
{
	sys_tempdir_drop(td, NULL);
	sys_tempdir_keep(td);
}

void sys_tempdir_keep(struct sys_tempdir *td)
{
	struct sys_hold section;

	if (!td->path)
		return;
	sys_cleanup_begin(&section);
	sys_cleanup_drop(td->cleanup);
	sys_cleanup_end(&section);
	sys_cleanup_free(td->cleanup);
	sys_dir_handle_close(&td->handle);
	free(td->path);
	*td = (struct sys_tempdir)SYS_TEMPDIR_INIT;
}

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *ftw)
{
	return remove(path) < 0 && errno != ENOENT ? -1 : 0;
}

int sys_tempdir_remove(const char *path, struct error *err)
{
	if (nftw(path, remove_one, OPEN_DIRS, FTW_DEPTH | FTW_PHYS) < 0 &&
	    errno != ENOENT)
		return error_set_errno(err, "cannot remove '%s'", path);
	return 0;
}

int sys_rename(const char *from, const char *to, struct error *err)
{
	if (rename(from, to) < 0)
		return error_set_errno(err, "cannot rename '%s' to '%s'", from,
				       to);
	return 0;
}
