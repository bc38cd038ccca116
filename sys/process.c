/* SPDX-License-Identifier: MIT */
/* Functions about this process: its environment, resources, user and memory. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <ctype.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/mman.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sys/io.h"
#include "sys/process.h"

long sys_process_id(void)
{
	return (long)getpid();
}

/*
 * `variable` has the form "NAME=value". Returns whether one of the `nr` strings
 * at `set`, "NAME=value" or "NAME", is about the same variable.
 */
static bool is_replaced(const char *variable, const char *const *set, size_t nr)
{
	size_t len = strcspn(variable, "=");

	for (size_t i = 0; i < nr; i++)
		if (!strncmp(set[i], variable, len) &&
		    (set[i][len] == '=' || !set[i][len]))
			return true;
	return false;
}

char **sys_environ_with(const char *const *set, size_t nr)
{
	size_t environ_nr = 0, n = 0;
	char **env;

	while (environ[environ_nr])
		environ_nr++;
	env = mem_calloc(environ_nr + nr + 1, sizeof(*env));
	if (!env)
		return NULL;
	for (size_t i = 0; i < environ_nr; i++)
		if (!is_replaced(environ[i], set, nr))
			env[n++] = environ[i];
	for (size_t i = 0; i < nr; i++)
		if (strchr(set[i], '='))
			env[n++] = (char *)set[i];
	return env;
}

static uint64_t us_of(const struct timeval *tv)
{
	return (uint64_t)tv->tv_sec * 1000000 + (uint64_t)tv->tv_usec;
}

/*
 * Reads the peak of memory from /proc. The peak that getrusage() returns also
 * includes the memory of this process before exec().
 */
uint64_t sys_peak_rss_kib(void)
{
	static const char key[] = "\nVmHWM:";
	struct buf status = BUF_INIT;
	uint64_t kib = 0;
	const char *line;

	if (!sys_read_any(&status, "/proc/self/status", NULL)) {
		line = strstr(status.data, key);
		if (line)
			kib = strtoull(line + sizeof(key) - 1, NULL, 10);
	}
	buf_release(&status);
	return kib;
}

/*
 * getrusage() does not include the CPU time since the last timer tick or
 * context switch, unless the CPU clock was read just before. So this function
 * reads the CPU clock first. Otherwise most requests of less than a tick (4 ms)
 * would seem to use no time.
 */
void sys_usage(struct sys_usage *usage, bool of_thread)
{
	struct timespec ignored;
	struct rusage r = {0};

	clock_gettime(of_thread ? CLOCK_THREAD_CPUTIME_ID
				: CLOCK_PROCESS_CPUTIME_ID,
		      &ignored);
	getrusage(of_thread ? RUSAGE_THREAD : RUSAGE_SELF, &r);
	usage->user_us = us_of(&r.ru_utime);
	usage->system_us = us_of(&r.ru_stime);
}

#define HOST_MAX 256
#define ENTRY_BYTES 16384

static int append_login(struct buf *out, const char *login)
{
	size_t at = out->len;
	int ret = buf_append_str(out, login);

	if (!ret && out->len > at)
		out->data[at] = (char)toupper((unsigned char)out->data[at]);
	return ret;
}

static int append_full(struct buf *out, const struct passwd *entry)
{
	int ret = 0;

	for (const char *p = entry->pw_gecos; !ret && *p && *p != ','; p++)
		ret = *p == '&' ? append_login(out, entry->pw_name)
				: buf_append_char(out, *p);
	return ret;
}

int sys_user_name(struct buf *out, bool full, struct error *err)
{
	char bytes[ENTRY_BYTES];
	struct passwd entry, *found = NULL;

	if (getpwuid_r(getuid(), &entry, bytes, sizeof(bytes), &found) ||
	    !found)
		return error_set(err, ERR_MISSING,
				 "unable to look up current "
				 "user in the passwd file");
	if (full ? append_full(out, found)
		 : buf_append_str(out, found->pw_name))
		return error_nomem(err);
	return 0;
}

int sys_host_name(struct buf *out, struct error *err)
{
	char name[HOST_MAX + 1] = "";

	if (gethostname(name, HOST_MAX) < 0)
		return error_set_errno(err, "cannot get host name");
	return buf_append_str(out, name) ? error_nomem(err) : 0;
}

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "sys/process.h"

/*
 * The size of a large page on most machines, to which sys_memory_large() aligns
 * memory. On a machine whose large pages are larger, the memory may get none.
 */
#define LARGE_PAGE ((size_t)2 << 20)

void *sys_memory_large(size_t size)
{
	void *memory;

	if (size < LARGE_PAGE)
		return malloc(size ? size : 1);
	if (posix_memalign(&memory, LARGE_PAGE, size))
		return NULL;
#ifdef MADV_HUGEPAGE
	/*
	 * Only the whole large pages are passed to madvise(); the end of the
	 * memory stays in small pages.
	 */
	madvise(memory, size / LARGE_PAGE * LARGE_PAGE, MADV_HUGEPAGE);
#endif
	return memory;
}

void sys_memory_trim(void)
{
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

uint64_t sys_memory_anonymous(void)
{
	unsigned long resident = 0, shared = 0;
	struct buf text = BUF_INIT;
	uint64_t ret = 0;

	if (!sys_read_any(&text, "/proc/self/statm", NULL) && text.len &&
	    sscanf(text.data, "%*u %lu %lu", &resident, &shared) == 2 &&
	    shared <= resident)
		ret = (uint64_t)(resident - shared) *
		      (uint64_t)sysconf(_SC_PAGESIZE);
	buf_release(&text);
	return ret;
}

size_t sys_descriptors_raise(size_t wanted)
{
	struct rlimit limit, before;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 0;
	before = limit;
	if (limit.rlim_cur < wanted)
		limit.rlim_cur = wanted < limit.rlim_max ? wanted
							 : limit.rlim_max;
	if (limit.rlim_cur > before.rlim_cur &&
	    setrlimit(RLIMIT_NOFILE, &limit) < 0)
		limit = before;
	return limit.rlim_cur;
}

void *sys_memory_shared(size_t size)
{
	void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return bytes == MAP_FAILED ? NULL : bytes;
}

int sys_memory_open(struct error *err)
{
	int fd = memfd_create("gitreach", MFD_CLOEXEC);

	return fd < 0 ? error_set_errno(err, "cannot make a file in memory")
		      : fd;
}

/*
 * Appends zeros until the file has `size` bytes. The caller has locked the
 * file. Without the lock, another process could also lengthen the file and
 * write to it, and the zeros of this process would replace what the other
 * process wrote.
 */
static int lengthen_locked(int fd, size_t size, const char *path,
			   struct error *err)
{
	static const char zeros[4096];
	struct stat st;

	if (fstat(fd, &st) < 0)
		return error_set_errno(err, "cannot read '%s'", path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, ERR_IO, "'%s' is not a file", path);
	while ((size_t)st.st_size < size) {
		size_t left = size - (size_t)st.st_size;
		ssize_t n = pwrite(fd, zeros,
				   left < sizeof(zeros) ? left : sizeof(zeros),
				   st.st_size);

		if (n < 0 && errno != EINTR)
			return error_set_errno(err, "cannot write '%s'", path);
		st.st_size += n > 0 ? n : 0;
	}
	return 0;
}

static int lengthen(int fd, size_t size, const char *path, struct error *err)
{
	int ret;

	do
		ret = flock(fd, LOCK_EX);
	while (ret < 0 && errno == EINTR);
	if (ret < 0)
		return error_set_errno(err, "cannot lock '%s'", path);
	ret = lengthen_locked(fd, size, path, err);
	flock(fd, LOCK_UN);
	return ret;
}

void *sys_memory_file(const char *path, size_t size, struct error *err)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644);
	void *bytes = MAP_FAILED;

	if (fd < 0) {
		error_set_errno(err, "cannot open '%s'", path);
		return NULL;
	}
	if (!lengthen(fd, size, path, err)) {
		bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			     0);
		if (bytes == MAP_FAILED)
			error_set_errno(err, "cannot map '%s'", path);
	}
	close(fd);
	return bytes == MAP_FAILED ? NULL : bytes;
}

void sys_memory_unshare(void *bytes, size_t size)
{
	if (bytes)
		munmap(bytes, size);
}
