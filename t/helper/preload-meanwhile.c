/* SPDX-License-Identifier: MIT */
/*
 * A library for LD_PRELOAD that runs a command just before a process opens a
 * certain file. Scripts use the library to test what happens when another
 * process changes a repository at this moment.
 *
 *	MEANWHILE=<command>     command for the shell. It runs without this
 *	                        library before the file or directory is opened,
 *	                        and the process waits. If the command fails, the
 *	                        process is aborted.
 *	MEANWHILE_AFTER=<any>   if set: the command for a directory runs after
 *	                        opendir() has opened it or has failed
 *	MEANWHILE_AT=<pattern>  pattern of the path, see fnmatch(3): * matches a
 *	                        slash
 *	MEANWHILE_ONCE=<file>   a file; its size in bytes is the number of
 *	                        matches to skip. The next match removes this
 *	                        file and runs the command. If there is no such
 *	                        file, the command is not run. Required.
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
		/*
		 * Another thread has removed the file. That thread runs the
		 * command.
		 */
		return;
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
	DIR *dir;
	int error;

	*(void **)&next = dlsym(RTLD_NEXT, "opendir");
	if (!getenv("MEANWHILE_AFTER")) {
		look(path);
		return next(path);
	}
	dir = next(path);
	error = errno;
	look(path);
	errno = error;
	return dir;
}
