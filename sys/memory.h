/* SPDX-License-Identifier: MIT */
/* The memory of this process. */
#ifndef SYS_MEMORY_H
#define SYS_MEMORY_H

#include <stddef.h>

/*
 * Allocates `size` bytes for random access. They are in large pages if the
 * system supports that, so that the processor needs fewer address translations.
 * The memory is not cleared; free() releases it. Smaller sizes come from
 * malloc(). Returns NULL if memory runs out.
 */
void *sys_memory_large(size_t size) __attribute__((warn_unused_result));

/*
 * Returns freed memory, which the C library keeps for later allocations, to the
 * system if possible. This is useful between two phases of a long job, if the
 * first needed much memory. It takes some milliseconds, and later allocations
 * have page faults. Other threads may allocate meanwhile.
 */
void sys_memory_trim(void);

#endif
