/* SPDX-License-Identifier: MIT */
/*
 * A library for LD_PRELOAD that lets one request for memory fail.
 * t/lib-memory.sh uses this library.
 *
 *	FAULT=memory:<nr>   the nr-th request for memory fails, once
 *	FAULT_COUNT=<file>  holds the number of requests so far in 8 bytes;
 *	                    shared by all processes that inherit it. Required.
 *
 * Only requests by the code of the program itself count, until the program
 * exits. Requests by libraries such as zlib and libc never fail. Requests
 * during the exit do not count: they may come from code that the compiler adds,
 * such as the code that stores counters of executed lines.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload.h"

static struct {
	/* Address range of the program's own code. */
	uintptr_t start, end;
	uint64_t nr;
	/* Number of requests so far, in memory that all processes share. */
	uint64_t *count;
	/*
	 * is_started: stop() is registered with atexit(). is_over: stop() has
	 * run.
	 */
	bool is_started, is_over;
	void *(*malloc)(size_t len);
	void *(*calloc)(size_t nr, size_t len);
	void *(*realloc)(void *old, size_t len);
} memory;

/*
 * Memory for calls of calloc() before its address is known: dlsym() may call
 * calloc() itself.
 */
static char early[4096];
static size_t early_len;

static void *find(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

static void find_program(void)
{
	const ElfW(Phdr) *p = (const void *)getauxval(AT_PHDR);
	size_t nr = getauxval(AT_PHNUM);
	uintptr_t base = 0;

	for (size_t i = 0; i < nr; i++)
		if (p[i].p_type == PT_PHDR)
			base = (uintptr_t)p - p[i].p_vaddr;
	memory.start = UINTPTR_MAX;
	for (size_t i = 0; i < nr; i++) {
		uintptr_t from = base + p[i].p_vaddr;

		if (p[i].p_type != PT_LOAD)
			continue;
		if (from < memory.start)
			memory.start = from;
		if (from + p[i].p_memsz > memory.end)
			memory.end = from + p[i].p_memsz;
	}
}

__attribute__((constructor)) static void set_up(void)
{
	const char *what = getenv("FAULT"), *count = getenv("FAULT_COUNT");
	int fd = count ? open(count, O_RDWR | O_CLOEXEC) : -1;

	if (fd < 0)
		return;
	find_program();
	if (what && !strncmp(what, "memory:", 7))
		memory.nr = strtoull(what + 7, NULL, 10);
	memory.count = mmap(NULL, sizeof(*memory.count), PROT_READ | PROT_WRITE,
			    MAP_SHARED, fd, 0);
	close(fd);
	if (memory.count == MAP_FAILED)
		memory.count = NULL;
}

static void stop(void)
{
	memory.is_over = true;
}

/*
 * Counts a request for memory from the code address `caller`. Returns whether
 * the request must fail.
 */
static bool fails(const void *caller)
{
	uintptr_t at = (uintptr_t)caller;

	if (!memory.count || memory.is_over || at < memory.start ||
	    at >= memory.end)
		return false;
	/*
	 * stop() is registered when the program first asks for memory, not when
	 * this library is loaded. The destructors of the program are registered
	 * in between. At the exit, the function that was registered last runs
	 * first. So stop() runs before the destructors.
	 */
	if (!__atomic_exchange_n(&memory.is_started, true, __ATOMIC_RELAXED))
		atexit(stop);
	if (__atomic_add_fetch(memory.count, 1, __ATOMIC_RELAXED) != memory.nr)
		return false;
	errno = ENOMEM;
	return true;
}

EXPORT void *malloc(size_t len)
{
	if (!memory.malloc)
		memory.malloc = (void *(*)(size_t))find("malloc");
	if (fails(__builtin_return_address(0)))
		return NULL;
	return memory.malloc(len);
}

EXPORT void *calloc(size_t nr, size_t len)
{
	static bool is_finding;

	if (!memory.calloc) {
		if (is_finding) {
			void *p = early + early_len;

			early_len += (nr * len + 15) / 16 * 16;
			return early_len <= sizeof(early) ? p : NULL;
		}
		is_finding = true;
		memory.calloc = (void *(*)(size_t, size_t))find("calloc");
		is_finding = false;
	}
	if (fails(__builtin_return_address(0)))
		return NULL;
	return memory.calloc(nr, len);
}

EXPORT void *realloc(void *old, size_t len)
{
	if (!memory.realloc)
		memory.realloc = (void *(*)(void *, size_t))find("realloc");
	if (fails(__builtin_return_address(0)))
		return NULL;
	return memory.realloc(old, len);
}
