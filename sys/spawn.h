/* SPDX-License-Identifier: MIT */
/*
 * Child processes (posix_spawn, never fork of a large image), and becoming
 * another program.
 */
#ifndef SYS_SPAWN_H
#define SYS_SPAWN_H

#include <sys/types.h>

#include "base/error.h"

/*
 * Replace this process by `file` (a path) with arguments `argv` and
 * environment `environ`. Returns only on failure, with ERR_IO.
 */
int sys_exec(const char *file, char *const argv[], struct error *err);

struct sys_child {
	pid_t pid;
	int in;  /* write end of its standard input, or -1 */
	int out; /* read end of its standard output, or -1 */
};

enum {
	SYS_SPAWN_PIPE_IN = 1 << 0,  /* connect child->in */
	SYS_SPAWN_PIPE_OUT = 1 << 1, /* connect child->out */
};

/*
 * Start argv[0] (searched in PATH) with environment `envp` (NULL: ours).
 * Streams that are not piped are inherited. Returns 0 or ERR_IO.
 */
int sys_spawn(struct sys_child *child, char *const argv[], char *const envp[],
	      unsigned flags, struct error *err);

/* Close the write end of its standard input: the child sees its end. */
void sys_spawn_close_in(struct sys_child *child);

/*
 * Close what is still open and wait. Returns the exit status 0..255, 128 plus
 * the signal number when it was killed, or ERR_IO.
 */
int sys_spawn_wait(struct sys_child *child, struct error *err);

#endif
