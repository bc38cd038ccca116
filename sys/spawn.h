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
	int err; /* read end of its standard error, or -1 */
};

enum {
	SYS_SPAWN_PIPE_IN = 1 << 0,  /* connect child->in */
	SYS_SPAWN_PIPE_OUT = 1 << 1, /* connect child->out */
	SYS_SPAWN_NULL_IN = 1 << 2,  /* its standard input is empty */
	/* Its standard error goes where its standard output goes. */
	SYS_SPAWN_ERR_TO_OUT = 1 << 3,
	/* Its standard output goes to our standard error. */
	SYS_SPAWN_OUT_TO_ERR = 1 << 4,
	/* All three streams lead nowhere: for one that outlives us. */
	SYS_SPAWN_SILENT = 1 << 5,
	SYS_SPAWN_PIPE_ERR = 1 << 6, /* connect child->err */
	SYS_SPAWN_NULL_ERR = 1 << 7, /* its standard error leads nowhere */
	SYS_SPAWN_NULL_OUT = 1 << 8, /* its standard output does */
};

/*
 * Start argv[0] (searched in PATH) with environment `envp` (NULL: ours), or sh
 * to read it when it is a script that does not say by "#!" what should.
 * Streams that are not redirected are inherited; SIGPIPE has its default
 * effect again. Returns 0 or ERR_IO.
 */
int sys_spawn(struct sys_child *child, char *const argv[], char *const envp[],
	      unsigned flags, struct error *err);

/* A conversation with a child: what it gets to read, who hears what it says. */
struct sys_talk {
	const void *input; /* borrowed; written to child->in, then closed */
	size_t input_len;
	unsigned silence_ms; /* `output` is called when nothing was said for
				so long, with no bytes; 0: not */
	/* What it said; a negative return ends the conversation. */
	int (*output)(void *ctx, const char *bytes, size_t len,
		      struct error *err);
	void *ctx;
};

/*
 * Write and read by turns, as the child likes, until it closes its output (or
 * has read all, when child->out is not connected). One that does not read its
 * input is no error. 0, ERR_IO, or what `output` returned; the child is then
 * to be waited for in any case.
 */
int sys_spawn_talk(struct sys_child *child, const struct sys_talk *talk,
		   struct error *err);

/* Close the write end of its standard input: the child sees its end. */
void sys_spawn_close_in(struct sys_child *child);

/*
 * Close what is still open and wait. Returns the exit status 0..255, 128 plus
 * the signal number when it was killed, or ERR_IO.
 */
int sys_spawn_wait(struct sys_child *child, struct error *err);

#endif
