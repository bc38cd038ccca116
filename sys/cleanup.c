/* SPDX-License-Identifier: MIT */
/* The registry of files and directories that a signal removes. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "sys/cleanup.h"

enum {
	DEPTH_MAX = 24,     /* nested directories */
	LIST_BYTES = 2048,  /* bytes of a directory listing to read at a time */
	PATIENCE_NS = 50000 /* interval of polling for the end of a section */
};

static const int fatal_signals[] = {SIGHUP,  SIGINT,  SIGPIPE, SIGQUIT,
				    SIGTERM, SIGXCPU, SIGXFSZ};

struct sys_cleanup {
	struct sys_cleanup *newer, *older;
	enum sys_cleanup_kind kind;
	char path[]; /* NUL-terminated */
};

static struct {
	atomic_bool is_armed;
	atomic_flag is_busy;        /* guards the list */
	struct sys_cleanup *newest; /* each entry belongs to the code that
				     * made it */
} registry = {.is_busy = ATOMIC_FLAG_INIT};

/* A spin lock, since a signal handler must not lock a mutex. */
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

static bool remove_dir(int at, const char *path, int depth);

/* Removes the entries of a directory once. Returns whether any was removed. */
static bool empty_dir(int fd, int depth)
{
	alignas(struct dirent64) char list[LIST_BYTES];
	bool removed = false;
	ssize_t len;

	while ((len = getdents64(fd, list, sizeof(list))) > 0) {
		for (ssize_t i = 0; i < len;) {
			const struct dirent64 *e = (const void *)(list + i);

			i += e->d_reclen;
			if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
				continue;
			if (!unlinkat(fd, e->d_name, 0) ||
			    ((errno == EISDIR || errno == EPERM) &&
			     remove_dir(fd, e->d_name, depth + 1)))
				removed = true;
		}
	}
	return removed;
}

/*
 * Lists the directory repeatedly: some file systems skip entries while others
 * are removed.
 */
static bool remove_dir(int at, const char *path, int depth)
{
	int fd;

	if (depth > DEPTH_MAX)
		return false;
	fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return false;
	while (empty_dir(fd, depth))
		lseek(fd, 0, SEEK_SET);
	close(fd);
	return !unlinkat(at, path, AT_REMOVEDIR);
}

static void remove_all(void)
{
	for (struct sys_cleanup *e = registry.newest; e; e = e->older)
		if (e->kind == SYS_CLEANUP_DIR)
			remove_dir(AT_FDCWD, e->path, 0);
		else
			unlink(e->path);
}

/* The registry stays locked, so no new files are made. */
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
	memcpy((*out)->path, path, len);
	return 0;
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
