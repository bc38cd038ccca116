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
#include <fcntl.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

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

static int do_open(int dir, const char *path, int flags, va_list args)
{
	mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;

	look(path);
	return (int)syscall(SYS_openat, dir, path, flags, mode);
}

EXPORT int open(const char *path, int flags, ...)
{
	va_list args;
	int fd;

	va_start(args, flags);
	fd = do_open(AT_FDCWD, path, flags, args);
	va_end(args);
	return fd;
}

EXPORT int openat(int dir, const char *path, int flags, ...)
{
	va_list args;
	int fd;

	va_start(args, flags);
	fd = do_open(dir, path, flags, args);
	va_end(args);
	return fd;
}

EXPORT DIR *opendir(const char *path)
{
	DIR *(*next)(const char *);

	look(path);
	*(void **)&next = dlsym(RTLD_NEXT, "opendir");
	return next(path);
}
