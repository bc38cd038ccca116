/* SPDX-License-Identifier: MIT */
/* Who we are to the operating system, and what children inherit of it. */
#ifndef SYS_PROCESS_H
#define SYS_PROCESS_H

#include <stddef.h>
#include <stdint.h>

/* The number of this process. */
long sys_process_id(void);

/*
 * The environment with changes, for a child: each of `nr` strings
 * "NAME=value" replaces what is there. The array is malloc()ed and ends with
 * NULL, its strings belong to the environment and to the caller. NULL when out
 * of memory.
 */
char **sys_environ_with(const char *const *set, size_t nr);

struct sys_usage {
	uint64_t user_us, system_us; /* of processors, all threads */
	uint64_t peak_rss_kib;       /* most memory held so far, mapped files
					included; 0: not known */
};

/* What this process has used so far. Reads a file of /proc. */
void sys_usage(struct sys_usage *usage);

#endif
