/* SPDX-License-Identifier: MIT */
/* Who we are to the operating system, and what children inherit of it. */
#ifndef SYS_PROCESS_H
#define SYS_PROCESS_H

#include <stddef.h>

/* The number of this process. */
long sys_process_id(void);

/*
 * The environment with changes, for a child: each of `nr` strings
 * "NAME=value" replaces what is there. The array is malloc()ed and ends with
 * NULL, its strings belong to the environment and to the caller. NULL when out
 * of memory.
 */
char **sys_environ_with(const char *const *set, size_t nr);

#endif
