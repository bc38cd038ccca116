/* SPDX-License-Identifier: MIT */
/* The memory of this process. */
#ifndef SYS_MEMORY_H
#define SYS_MEMORY_H

#include <stddef.h>

/*
 * `size` bytes for what is read in random places: in large pages where the
 * system has them, of which the processor remembers where all are. Not cleared;
 * goes back with free(). What is less than such a page comes from malloc().
 * NULL when out of memory.
 */
void *sys_memory_large(size_t size) __attribute__((warn_unused_result));

/*
 * Give back to the system what was freed and is kept for later allocations,
 * where the C library can: worth it between two phases of a long job, when the
 * first one needed much. Some milliseconds, and page faults for what is
 * allocated again. Threads may allocate meanwhile.
 */
void sys_memory_trim(void);

#endif
