/* SPDX-License-Identifier: MIT */
/* The registry of files and directories that a signal removes. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "sys/cleanup.h"

enum {
	DEPTH_MAX = 24, /* nested directories */
	/* number of bytes of a directory listing to read at a time */
	LIST_BYTES = 2048,
	/*
	 * nanoseconds between two checks whether another thread has left its
	 * section (sys_cleanup_begin())
	 */
	PATIENCE_NS = 50000
};

static const int fatal_signals[] = {SIGHUP,  SIGINT,  SIGPIPE, SIGQUIT,
				    SIGTERM, SIGXCPU, SIGXFSZ, SIGALRM};

struct sys_cleanup {
	struct sys_cleanup *newer, *older;
	enum sys_cleanup_kind kind;
	struct sys_dir_handle handle; /* borrowed descriptors */
	char path[];                  /* NUL-terminated */
};

static struct {
	atomic_bool is_armed;
	atomic_flag is_busy; /* guards the list */
	/*
	 * The first entry of the list, which is the newest. An entry is owned
	 * by the code that has added it.
	 */
	struct sys_cleanup *newest;
} registry = {.is_busy = ATOMIC_FLAG_INIT};

/*
 * Locks the registry with a spin lock, since a signal handler must not lock a
 * mutex.
 */
static void lock_registry(void)
{
	const struct timespec moment = {0, PATIENCE_NS};

	while (atomic_flag_test_and_set(&registry.is_busy))
		nanosleep(&moment, NULL);
}

void sys_cleanup_signals(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < ARRAY_NR(fatal_signals); i++)
		sigaddset(set, fatal_signals[i]);
}

/* The state of one call that removes a directory. */
struct removal {
	struct sys_dir_handle *handle;
	/*
	 * errno of the first entry that could not be removed; 0: all were
	 * removed
	 */
	int cause;
};

static bool remove_dir(struct removal *r, int at, const char *path, int depth);

static void note_failure(struct removal *r)
{
	if (!r->cause && errno != ENOENT)
		r->cause = errno;
}

/*
 * Removes a file or a directory with its content. Returns whether the entry was
 * removed.
 */
static bool remove_entry(struct removal *r, int fd, const char *name, int depth)
{
	if (!unlinkat(fd, name, 0))
		return true;
	if (errno == EISDIR || errno == EPERM)
		return remove_dir(r, fd, name, depth);
	note_failure(r);
	return false;
}

/*
 * Lists the entries of a directory once, and removes each of them. Returns
 * whether at least one entry was removed.
 *
 * The entries are read by the system call, because this runs in a signal
 * handler, where readdir() is not allowed. On 64-bit Linux the system call
 * writes entries in the layout of struct dirent.
 */
static bool empty_dir(struct removal *r, int fd, int depth)
{
	alignas(struct dirent) char list[LIST_BYTES];
	bool removed = false;
	ssize_t len;

	while ((len = syscall(SYS_getdents64, fd, list, sizeof(list))) > 0) {
		for (ssize_t i = 0; i < len;) {
			const struct dirent *e = (const void *)(list + i);

			i += e->d_reclen;
			if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") &&
			    remove_entry(r, fd, e->d_name, depth + 1))
				removed = true;
		}
	}
	if (len < 0)
		note_failure(r);
	return removed;
}

/*
 * Removes the entries of a directory. Some file systems leave entries out of
 * the list if a process removes entries while it reads the list. So the list is
 * read again until no entry can be removed.
 */
static void empty_whole(struct removal *r, int fd, int depth)
{
	lseek(fd, 0, SEEK_SET);
	while (r->cause = 0, empty_dir(r, fd, depth))
		lseek(fd, 0, SEEK_SET);
}

static int open_dir(struct removal *r, int at, const char *path)
{
	int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(at, path, flags);

	if (fd < 0 && (errno == EMFILE || errno == ENFILE) &&
	    r->handle->spare >= 0) {
		close(r->handle->spare);
		r->handle->spare = -1;
		fd = openat(at, path, flags);
	}
	return fd;
}

static bool remove_dir(struct removal *r, int at, const char *path, int depth)
{
	bool is_open = !depth && r->handle->fd >= 0;
	int fd = -1;

	errno = ELOOP;
	if (depth <= DEPTH_MAX)
		fd = is_open ? r->handle->fd : open_dir(r, at, path);
	if (fd < 0) {
		note_failure(r);
		return false;
	}
	empty_whole(r, fd, depth);
	if (!is_open)
		close(fd);
	if (!unlinkat(at, path, AT_REMOVEDIR))
		return true;
	note_failure(r);
	return false;
}

int sys_cleanup_remove_dir(const char *path, struct sys_dir_handle *handle)
{
	struct removal r = {handle, 0};

	if (remove_dir(&r, AT_FDCWD, path, 0) || !r.cause)
		return 0;
	errno = r.cause;
	return -1;
}

int sys_dir_handle_open(struct sys_dir_handle *handle, const char *path,
			struct error *err)
{
	struct sys_dir_handle own = {
		.fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
	};

	own.spare = own.fd < 0 ? -1 : fcntl(own.fd, F_DUPFD_CLOEXEC, 0);
	*handle = own;
	if (own.spare >= 0)
		return 0;
	error_set_errno(err, "cannot open '%s'", path);
	sys_dir_handle_close(handle);
	return ERR_IO;
}

void sys_dir_handle_close(struct sys_dir_handle *handle)
{
	if (handle->fd >= 0)
		close(handle->fd);
	if (handle->spare >= 0)
		close(handle->spare);
	*handle = (struct sys_dir_handle)SYS_DIR_HANDLE_INIT;
}

static void remove_all(void)
{
	for (struct sys_cleanup *e = registry.newest; e; e = e->older)
		if (e->kind == SYS_CLEANUP_DIR)
			sys_cleanup_remove_dir(e->path, &e->handle);
		else
			unlink(e->path);
}

/*
 * Ends the process by the default action of the signal. The registry stays
 * locked, so no other thread creates a temporary file before the end.
 */
static void end_process(int signal_nr)
{
	struct sigaction by_default = {.sa_handler = SIG_DFL};
	sigset_t set;

	lock_registry();
	remove_all();
	sigaction(signal_nr, &by_default, NULL);
	sigemptyset(&set);
	sigaddset(&set, signal_nr);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	raise(signal_nr);
}

void sys_cleanup_arm(void)
{
	struct sigaction act = {.sa_handler = end_process}, old;

	sys_cleanup_signals(&act.sa_mask);
	for (size_t i = 0; i < ARRAY_NR(fatal_signals); i++)
		if (!sigaction(fatal_signals[i], NULL, &old) &&
		    old.sa_handler == SIG_DFL)
			sigaction(fatal_signals[i], &act, NULL);
	atomic_store(&registry.is_armed, true);
}

int sys_cleanup_new(struct sys_cleanup **out, enum sys_cleanup_kind kind,
		    const char *path, struct error *err)
{
	size_t len = strlen(path) + 1, bytes;

	*out = NULL;
	if (!atomic_load(&registry.is_armed))
		return 0;
	if (mem_add(&bytes, sizeof(**out), len))
		*out = mem_calloc(1, bytes);
	if (!*out)
		return error_nomem(err);
	(*out)->kind = kind;
	(*out)->handle = (struct sys_dir_handle)SYS_DIR_HANDLE_INIT;
	memcpy((*out)->path, path, len);
	return 0;
}

void sys_cleanup_use_handle(struct sys_cleanup *entry,
			    const struct sys_dir_handle *handle)
{
	if (entry)
		entry->handle = *handle;
}

void sys_cleanup_free(struct sys_cleanup *entry)
{
	free(entry);
}

void sys_hold_signals(struct sys_hold *hold)
{
	sigset_t set;

	hold->is_held = atomic_load(&registry.is_armed);
	if (!hold->is_held)
		return;
	sys_cleanup_signals(&set);
	pthread_sigmask(SIG_BLOCK, &set, &hold->before);
}

void sys_release_signals(const struct sys_hold *hold)
{
	if (hold->is_held)
		pthread_sigmask(SIG_SETMASK, &hold->before, NULL);
}

void sys_cleanup_begin(struct sys_hold *section)
{
	sys_hold_signals(section);
	if (section->is_held)
		lock_registry();
}

void sys_cleanup_end(const struct sys_hold *section)
{
	int before = errno;

	if (section->is_held)
		atomic_flag_clear(&registry.is_busy);
	sys_release_signals(section);
	errno = before;
}

void sys_cleanup_add(struct sys_cleanup *entry)
{
	if (!entry)
		return;
	entry->older = registry.newest;
	if (entry->older)
		entry->older->newer = entry;
	registry.newest = entry;
}

void sys_cleanup_drop(struct sys_cleanup *entry)
{
	if (!entry)
		return;
	if (entry->newer)
		entry->newer->older = entry->older;
	else
		registry.newest = entry->older;
	if (entry->older)
		entry->older->newer = entry->newer;
	entry->newer = entry->older = NULL;
}
