/* SPDX-License-Identifier: MIT */
/* The memory of this process. */
#ifndef SYS_MEMORY_H
#define SYS_MEMORY_H

/*
 * Give back to the system what was freed and is kept for later allocations,
 * where the C library can: worth it between two phases of a long job, when the
 * first one needed much. Some milliseconds, and page faults for what is
 * allocated again. Threads may allocate meanwhile.
 */
void sys_memory_trim(void);

#endif
