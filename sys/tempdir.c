/* SPDX-License-Identifier: MIT */
/* Temporary directories. */
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "sys/tempdir.h"

enum { OPEN_DIRS = 16 }; /* descriptors that a removal uses */

int sys_tempdir_create(char **path, const char *dir, const char *prefix,
		       struct error *err)
{
	struct buf b = BUF_INIT;

	*path = NULL;
	if (buf_printf(&b, "%s/%sXXXXXX", dir, prefix) < 0)
		return error_nomem(err);
	if (!mkdtemp(b.data)) {
		error_set_errno(err, "cannot create '%s'", b.data);
		buf_release(&b);
		return ERR_IO;
	}
	*path = buf_detach(&b, NULL);
	return 0;
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
