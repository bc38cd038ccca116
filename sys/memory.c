/* SPDX-License-Identifier: MIT */
/* Large pages, and returning memory to the system. */
#include <stdlib.h>
#include <sys/mman.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "sys/memory.h"

/* The size of large pages on most machines; elsewhere only an alignment. */
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
	 * Only whole large pages; the rest of the memory stays in small pages.
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
