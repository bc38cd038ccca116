/* SPDX-License-Identifier: MIT */
/* Attributes of this process, and the environment of its children. */
#ifndef SYS_PROCESS_H
#define SYS_PROCESS_H

#include <stddef.h>
#include <stdint.h>

/* Returns the process id. */
long sys_process_id(void);

/*
 * Returns a copy of the environment with changes, for a child. Each of `nr`
 * strings "NAME=value" replaces that variable. The array comes from malloc()
 * and ends with NULL. Its strings belong to the environment and the caller.
 * Returns NULL if memory runs out.
 */
char **sys_environ_with(const char *const *set, size_t nr);

struct sys_usage {
	uint64_t user_us, system_us; /* CPU time of all threads */
	/* peak of memory in use, including mapped files; 0 if unknown */
	uint64_t peak_rss_kib;
};

/* Returns the resources that this process has used. Reads a file of /proc. */
void sys_usage(struct sys_usage *usage);

#endif
