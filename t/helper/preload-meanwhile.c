/* SPDX-License-Identifier: MIT */
/*
 * Something happens just when a process opens a file, as a library for
 * LD_PRELOAD: for tests of what others do to a repository meanwhile.
 *
 *	MEANWHILE=<command>     run by the shell, without this library, before
 *	                        the file or directory is opened; waited for. If
 *	                        it fails the process is aborted.
 *	MEANWHILE_AT=<pattern>  of its path, see fnmatch(3): * matches a slash
 *	MEANWHILE_ONCE=<file>   of as many bytes as there are matches to let
 *	                        pass, and removed at the next; if there is no
 *	                        such file nothing happens. Required.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload.h"

static void look(const char *path)
{
	const char *command = getenv("MEANWHILE");
	const char *at = getenv("MEANWHILE_AT");
	const char *once = getenv("MEANWHILE_ONCE");
	struct stat st;

	if (!command || !at || !once || fnmatch(at, path, 0) != 0 ||
	    stat(once, &st) < 0)
		return;
	if (st.st_size) {
		if (truncate(once, st.st_size - 1))
			abort();
		return;
	}
	if (unlink(once)) {
		if (errno != ENOENT)
			abort();
		return; /* another thread was here at the same time */
	}
	unsetenv("LD_PRELOAD");
	if (system(command))
		abort();
}

static int open_at(int dir, const char *path, int flags, mode_t mode)
{
	look(path);
	return (int)syscall(SYS_openat, dir, path, flags, mode);
}

EXPORT int open(const char *path, int flags, ...)
{
	mode_t mode;

	TAKE_MODE(mode, flags);
	return open_at(AT_FDCWD, path, flags, mode);
}

EXPORT int openat(int dir, const char *path, int flags, ...)
{
	mode_t mode;

	TAKE_MODE(mode, flags);
	return open_at(dir, path, flags, mode);
}

EXPORT DIR *opendir(const char *path)
{
	DIR *(*next)(const char *);

	look(path);
	*(void **)&next = dlsym(RTLD_NEXT, "opendir");
	return next(path);
}
