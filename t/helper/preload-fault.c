/* SPDX-License-Identifier: MIT */
/*
 * A disk that fails, as a library for LD_PRELOAD. t/lib-fault.sh uses it.
 *
 *	FAULT=<mode>:<nr>   what happens at the nr-th call that changes the disk
 *	FAULT_COUNT=<file>  holds the number of calls so far in 8 bytes; shared
 *	                    by all processes that inherit it. Required.
 *	FAULT_LOG=<file>    gets one line for each call: "fsync <path>"
 *
 * Modes:
 *
 *	kill    a write is done by half, and the process dies; so does each
 *	        other process at its next call that changes the disk
 *	lose    like kill, and power fails: data that the process wrote without
 *	        fsync is lost, and so are new names in directories without
 *	        fsync. Removed files stay removed.
 *	EIO     this call fails, once
 *	ENOSPC  this call fails, and so does each later one that needs space
 *	short   this write and all later ones are done by half, and return
 *	        the number of bytes that were written
 *	term    the call is done, then SIGTERM arrives
 *
 * Only calls that create, write, sync, rename, link or remove count. Writes
 * count only to regular files, and not to the descriptors 0 to 2. This library
 * does not see writes by stdio, so they do not count. In a build of `make
 * coverage`, the compiler's code writes *.gcda files, which do not count.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "preload.h"

#define MAX_ENTRIES 256

enum mode { NOTHING, KILL, LOSE, FAIL, FULL, SHORT, TERM };

/*
 * A file that loses its bytes or one of its names in a power failure, because
 * no fsync has followed.
 */
struct volatile_file {
	char path[PATH_MAX];
	dev_t dev;
	ino_t ino;
	off_t synced_len;
	bool is_dirty;
};

struct volatile_name {
	char from[PATH_MAX], to[PATH_MAX];
};

static struct {
	/* The lock protects all fields of this struct. */
	pthread_mutex_t lock;
	bool is_set;
	/* True: SIGTERM must be sent before the call returns. */
	bool is_due;
	enum mode mode;
	uint64_t nr;
	/* Number of calls so far, in memory that all processes share. */
	uint64_t *count;
	const char *log;
	struct volatile_file files[MAX_ENTRIES];
	size_t file_nr;
	struct volatile_name names[MAX_ENTRIES];
	size_t name_nr;
} fault = {
	/*
	 * The lock is recursive: a signal handler may call this library while
	 * its thread holds the lock.
	 */
	.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP,
};

static enum mode parse_mode(const char *name)
{
	static const char *const names[] = {
		"kill", "lose", "EIO", "ENOSPC", "short", "term",
	};

	for (int i = 0; i < 6; i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return KILL + i;
	return NOTHING;
}

static void set_up(void)
{
	const char *what = getenv("FAULT"), *count = getenv("FAULT_COUNT");
	int fd;

	fault.is_set = true;
	if (!count)
		return;
	fd = (int)syscall(SYS_openat, AT_FDCWD, count, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return;
	fault.count = mmap(NULL, sizeof(*fault.count), PROT_READ | PROT_WRITE,
			   MAP_SHARED, fd, 0);
	close(fd);
	if (fault.count == MAP_FAILED) {
		fault.count = NULL;
		return;
	}
	fault.log = getenv("FAULT_LOG");
	if (what && strchr(what, ':')) {
		fault.mode = parse_mode(what);
		fault.nr = strtoull(strchr(what, ':') + 1, NULL, 10);
	}
}

static void log_call(const char *name, const char *path, const char *to)
{
	char line[2 * PATH_MAX + 32];
	int len, fd;

	if (!fault.log)
		return;
	len = snprintf(line, sizeof(line), "%s %s%s%s\n", name, path,
		       to ? " " : "", to ? to : "");
	fd = (int)syscall(SYS_openat, AT_FDCWD, fault.log,
			  O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd >= 0) {
		(void)!syscall(SYS_write, fd, line, (size_t)len);
		close(fd);
	}
}

/* ---- bytes and names that a power failure removes */

static void path_of(char *path, int fd)
{
	char link[64];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, PATH_MAX - 1);
	path[len < 0 ? 0 : len] = '\0';
}

static struct volatile_file *find_file(const struct stat *st)
{
	for (size_t i = 0; i < fault.file_nr; i++)
		if (fault.files[i].ino == st->st_ino &&
		    fault.files[i].dev == st->st_dev)
			return &fault.files[i];
	return NULL;
}

static void note_write(int fd, const struct stat *st)
{
	struct volatile_file *file = find_file(st);

	if (!file && fault.file_nr < MAX_ENTRIES) {
		file = &fault.files[fault.file_nr++];
		path_of(file->path, fd);
		file->dev = st->st_dev;
		file->ino = st->st_ino;
		file->synced_len = st->st_size;
	}
	if (file)
		file->is_dirty = true;
}

static void note_file_sync(const struct stat *st)
{
	struct volatile_file *file = find_file(st);

	if (file) {
		file->synced_len = st->st_size;
		file->is_dirty = false;
	}
}

static void note_dir_sync(int fd)
{
	char dir[PATH_MAX];
	size_t kept = 0;

	path_of(dir, fd);
	for (size_t i = 0; i < fault.name_nr; i++) {
		const char *to = fault.names[i].to;
		size_t len = (size_t)(strrchr(to, '/') - to);

		if (strlen(dir) != len || memcmp(dir, to, len) != 0)
			fault.names[kept++] = fault.names[i];
	}
	fault.name_nr = kept;
}

static void absolute(char *out, const char *path)
{
	char cwd[PATH_MAX] = "", dir[PATH_MAX], real[PATH_MAX];
	const char *slash = strrchr(path, '/');

	if (!slash) {
		snprintf(out, PATH_MAX, "%.2000s/%.2000s",
			 getcwd(cwd, sizeof(cwd)) ? cwd : "", path);
		return;
	}
	snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path) + 1, path);
	snprintf(out, PATH_MAX, "%.2000s%.2000s",
		 realpath(dir, real) ? real : "", slash);
}

/*
 * Notes a rename, so that a simulated power failure can undo it. A rename that
 * replaces a file is not noted, because a power failure is assumed not to undo
 * it.
 */
static void note_rename(const char *from, const char *to, bool replaces)
{
	char old[PATH_MAX], new[PATH_MAX];

	absolute(old, from);
	absolute(new, to);
	for (size_t i = 0; i < fault.file_nr; i++)
		if (!strcmp(fault.files[i].path, old))
			memcpy(fault.files[i].path, new, sizeof(new));
	if (!replaces && fault.name_nr < MAX_ENTRIES) {
		memcpy(fault.names[fault.name_nr].from, old, sizeof(old));
		memcpy(fault.names[fault.name_nr++].to, new, sizeof(new));
	}
}

static void lose_power(void)
{
	for (size_t i = 0; i < fault.file_nr; i++) {
		const struct volatile_file *file = &fault.files[i];
		struct stat st;

		if (file->is_dirty && !stat(file->path, &st) &&
		    st.st_ino == file->ino && !chmod(file->path, 0600))
			syscall(SYS_truncate, file->path, file->synced_len);
	}
	while (fault.name_nr--)
		syscall(SYS_renameat2, AT_FDCWD, fault.names[fault.name_nr].to,
			AT_FDCWD, fault.names[fault.name_nr].from, 0);
}

/* ---- counting */

/*
 * Whether a system call needs free space on the disk. NO_ROOM: the call needs
 * no free space. ROOM: the call needs free space. BYTES: the call writes bytes
 * of a file, and needs free space. Only a call of this kind can be done by
 * half: half of the bytes are written.
 */
enum need { NO_ROOM, ROOM, BYTES };

static void die(void)
{
	if (fault.mode == LOSE)
		lose_power();
	kill(getpid(), SIGKILL);
	for (;;)
		pause();
}

/*
 * Called before a system call, with the lock held. Does not return if the
 * process must end before the call. Returns
 *
 *	0        make the call
 *	-1       write only half of the bytes, then end the process
 *	-2       write only half of the bytes, then go on
 *	above 0  do not make the call, which fails with this errno
 */
static int enter(enum need need)
{
	uint64_t nr = __atomic_add_fetch(fault.count, 1, __ATOMIC_SEQ_CST);

	switch (fault.mode) {
	case KILL:
	case LOSE:
		if (nr == fault.nr && need == BYTES)
			return -1;
		if (nr >= fault.nr)
			die();
		break;
	case FAIL:
		return nr == fault.nr ? EIO : 0;
	case FULL:
		return nr >= fault.nr && need != NO_ROOM ? ENOSPC : 0;
	case SHORT:
		return nr >= fault.nr && need == BYTES ? -2 : 0;
	case TERM:
		fault.is_due = nr == fault.nr;
		break;
	case NOTHING:
		break;
	}
	return 0;
}

/*
 * Releases the lock. In the mode "term", sends SIGTERM if the counted call was
 * the chosen one.
 */
static void leave(void)
{
	bool is_due = fault.is_due;

	fault.is_due = false;
	pthread_mutex_unlock(&fault.lock);
	if (is_due)
		kill(getpid(), SIGTERM);
}

/*
 * Takes the lock. Returns true if calls are counted, that is, if FAULT is set.
 */
static bool begin(void)
{
	pthread_mutex_lock(&fault.lock);
	if (!fault.is_set)
		set_up();
	return fault.count != NULL;
}

static int done(long ret)
{
	int saved = errno;

	leave();
	errno = saved;
	return (int)ret;
}

static int fail(int code)
{
	errno = code;
	return done(-1);
}

/* ---- calls that write */

static bool is_file(int fd, struct stat *st)
{
	return fd > 2 && !fstat(fd, st) && S_ISREG(st->st_mode);
}

/*
 * Called before a write of `len` bytes. Returns the number of bytes to write.
 * If the write must fail, sets errno and returns -1. *dies: the process must
 * end after the write; the caller passes this value to end_write().
 */
static ssize_t begin_write(int fd, size_t len, bool *dies)
{
	struct stat st;
	char path[PATH_MAX];
	int what;

	*dies = false;
	if (!begin() || !is_file(fd, &st))
		return (ssize_t)len;
	path_of(path, fd);
	log_call("write", path, NULL);
	what = enter(BYTES);
	if (what > 0) {
		errno = what;
		return -1;
	}
	*dies = what == -1;
	note_write(fd, &st);
	return (ssize_t)(what < 0 ? (len + 1) / 2 : len);
}

static ssize_t end_write(ssize_t ret, bool dies)
{
	int saved = errno;

	if (dies)
		die();
	leave();
	errno = saved;
	return ret;
}

EXPORT ssize_t write(int fd, const void *bytes, size_t len)
{
	bool dies;
	ssize_t n = begin_write(fd, len, &dies);

	if (n >= 0) {
		struct stat st;

		/*
		 * The descriptor may be a pipe, and the write may block.
		 * Release the lock first, so that other threads do not wait for
		 * the lock meanwhile.
		 */
		if (!is_file(fd, &st)) {
			pthread_mutex_unlock(&fault.lock);
			return syscall(SYS_write, fd, bytes, (size_t)n);
		}
		n = syscall(SYS_write, fd, bytes, (size_t)n);
	}
	return end_write(n, dies);
}

EXPORT ssize_t pwrite(int fd, const void *bytes, size_t len, off_t off)
{
	bool dies;
	ssize_t n = begin_write(fd, len, &dies);

	if (n >= 0)
		n = syscall(SYS_pwrite64, fd, bytes, (size_t)n, off);
	return end_write(n, dies);
}

/*
 * Writes only the first element of iov[]. Callers of writev() must expect short
 * writes, and write the rest by further calls.
 */
EXPORT ssize_t writev(int fd, const struct iovec *iov, int nr)
{
	struct stat st;

	for (int i = 0; i < nr && is_file(fd, &st); i++)
		if (iov[i].iov_len)
			return write(fd, iov[i].iov_base, iov[i].iov_len);
	return syscall(SYS_writev, fd, iov, nr);
}

/*
 * Returns true for a *.gcda file, in which a coverage build counts executed
 * lines.
 */
static bool is_counters(const char *path)
{
	size_t len = strlen(path);

	return len > 5 && !strcmp(path + len - 5, ".gcda");
}

/* ---- calls on descriptors */

static int change(const char *name, int fd, enum need need)
{
	char path[PATH_MAX];

	path_of(path, fd);
	if (is_counters(path))
		return 0;
	log_call(name, path, NULL);
	return enter(need);
}

EXPORT int fsync(int fd)
{
	struct stat st;
	int what = begin() ? change("fsync", fd, NO_ROOM) : 0;

	if (what > 0)
		return fail(what);
	if (!fstat(fd, &st)) {
		if (S_ISDIR(st.st_mode))
			note_dir_sync(fd);
		else
			note_file_sync(&st);
	}
	return done(syscall(SYS_fsync, fd));
}

EXPORT int fdatasync(int fd)
{
	return fsync(fd);
}

EXPORT int ftruncate(int fd, off_t len)
{
	struct stat st;
	int what = begin() ? change("truncate", fd, ROOM) : 0;

	if (what > 0)
		return fail(what);
	if (!fstat(fd, &st))
		note_write(fd, &st);
	return done(syscall(SYS_ftruncate, fd, len));
}

/* ---- calls on names */

static int enter_named(const char *name, const char *path, const char *to,
		       enum need need)
{
	if (!begin())
		return 0;
	log_call(name, path, to);
	return enter(need);
}

static int open_at(int dir, const char *path, int flags, mode_t mode)
{
	int what;

	if (!(flags & (O_CREAT | O_TRUNC)) || is_counters(path))
		return (int)syscall(SYS_openat, dir, path, flags, mode);
	what = enter_named("create", path, NULL, ROOM);
	if (what > 0)
		return fail(what);
	return done(syscall(SYS_openat, dir, path, flags, mode));
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

static int rename_with(const char *from, const char *to, unsigned flags)
{
	int what = enter_named("rename", from, to, ROOM);
	bool replaces = !access(to, F_OK);
	long ret;

	if (what > 0)
		return fail(what);
	ret = syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags);
	if (!ret)
		note_rename(from, to, replaces);
	return done(ret);
}

EXPORT int rename(const char *from, const char *to)
{
	return rename_with(from, to, 0);
}

/* Both paths must be absolute, or relative to the working directory. */
EXPORT int renameat2(int from_fd, const char *from, int to_fd, const char *to,
		     unsigned flags)
{
	(void)from_fd;
	(void)to_fd;
	return rename_with(from, to, flags);
}

EXPORT int link(const char *from, const char *to)
{
	int what = enter_named("link", from, to, ROOM);

	return what > 0 ? fail(what)
			: done(syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to,
				       0));
}

EXPORT int symlink(const char *target, const char *path)
{
	int what = enter_named("symlink", target, path, ROOM);

	return what > 0 ? fail(what)
			: done(syscall(SYS_symlinkat, target, AT_FDCWD, path));
}

EXPORT int mkdir(const char *path, mode_t mode)
{
	int what = enter_named("mkdir", path, NULL, ROOM);

	return what > 0 ? fail(what)
			: done(syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}

EXPORT int unlink(const char *path)
{
	int what = enter_named("unlink", path, NULL, NO_ROOM);

	return what > 0 ? fail(what)
			: done(syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}

EXPORT int rmdir(const char *path)
{
	int what = enter_named("rmdir", path, NULL, NO_ROOM);

	return what > 0 ? fail(what)
			: done(syscall(SYS_unlinkat, AT_FDCWD, path,
				       AT_REMOVEDIR));
}
