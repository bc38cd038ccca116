/* SPDX-License-Identifier: MIT */
/*
 * Starts child processes, and replaces this process by another program.
 * Children are started with posix_spawn(), since fork() is slow in a large
 * process.
 */
#ifndef SYS_SPAWN_H
#define SYS_SPAWN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * Replaces this process by the program at path `file`, with arguments `argv`
 * and environment `environ`. Returns only on failure, with ERR_IO.
 */
int sys_exec(const char *file, char *const argv[], struct error *err);

struct sys_child {
	pid_t pid;
	/*
	 * write end of the pipe to the child's standard input; -1: there is no
	 * pipe, or it was closed
	 */
	int in;
	/*
	 * read end of the pipe from the child's standard output; -1: there is
	 * no pipe, or it was closed
	 */
	int out;
	/*
	 * read end of the pipe from the child's standard error; -1: there is no
	 * pipe, or it was closed
	 */
	int err;
	/*
	 * CPU time of the child and its children in microseconds, set by
	 * sys_spawn_wait()
	 */
	uint64_t cpu_us;
	/*
	 * the signal that killed the child, set by sys_spawn_wait(); 0: the
	 * child was not killed
	 */
	int signal_nr;
	/*
	 * errno value that says why sys_spawn() could not start the program. 0:
	 * the program was started, or sys_spawn() failed earlier because it
	 * could not make the pipes.
	 */
	int error_nr;
};

enum {
	SYS_SPAWN_PIPE_IN = 1 << 0,  /* connect child->in */
	SYS_SPAWN_PIPE_OUT = 1 << 1, /* connect child->out */
	/* the child reads from /dev/null, so its input is empty */
	SYS_SPAWN_NULL_IN = 1 << 2,
	/* the child's standard error goes to its standard output */
	SYS_SPAWN_ERR_TO_OUT = 1 << 3,
	/* the child's standard output goes to this process's standard error */
	SYS_SPAWN_OUT_TO_ERR = 1 << 4,
	/*
	 * the child's standard input, output and error are /dev/null, for a
	 * child that runs longer than this process
	 */
	SYS_SPAWN_SILENT = 1 << 5,
	SYS_SPAWN_PIPE_ERR = 1 << 6, /* connect child->err */
	/* the child's standard error is /dev/null */
	SYS_SPAWN_NULL_ERR = 1 << 7,
	/* the child's standard output is /dev/null */
	SYS_SPAWN_NULL_OUT = 1 << 8,
	/* the child blocks no signal, whatever this thread blocks */
	SYS_SPAWN_OPEN_SIGNALS = 1 << 9,
	/*
	 * The child leads a new process group, so that kill(-pid) also reaches
	 * the children of the child.
	 */
	SYS_SPAWN_GROUP = 1 << 10,
};

/*
 * Starts argv[0], searched in PATH, with environment `envp` (NULL: that of this
 * process). A script without a "#!" line is run by sh. Streams that are not
 * redirected are inherited. SIGPIPE has its default action in the child.
 * Returns 0 or ERR_IO.
 */
int sys_spawn(struct sys_child *child, char *const argv[], char *const envp[],
	      unsigned flags, struct error *err);

/*
 * Works like sys_spawn(), but the working directory of the child is `dir`
 * (NULL: that of this process). A relative path in argv[0] starts in `dir`. The
 * working directory of this process does not change, so other threads may run.
 */
int sys_spawn_in(struct sys_child *child, const char *dir, char *const argv[],
		 char *const envp[], unsigned flags, struct error *err);

/*
 * Works like sys_spawn(), but the child also inherits the descriptor `keep`,
 * under the same number. A `keep` of -1 means no descriptor.
 */
int sys_spawn_keeping(struct sys_child *child, char *const argv[],
		      char *const envp[], int keep, unsigned flags,
		      struct error *err);

/*
 * Starts argv[0], searched in PATH, as a program that may outlive this process.
 * The program has the standard streams of this process, and blocks no signal.
 * The program inherits the `nr` descriptors in `keep` under the same numbers.
 * Returns the process id of the program, or ERR_IO.
 */
pid_t sys_spawn_heir(char *const argv[], char *const envp[], const int *keep,
		     size_t nr, struct error *err);

/*
 * Works like sys_spawn(), but the child's standard input, output and error are
 * copies of the descriptors fds[0], fds[1] and fds[2]. A descriptor must be 3
 * or more; -1 means that the child inherits the stream. The only allowed flag
 * is SYS_SPAWN_OPEN_SIGNALS.
 */
int sys_spawn_with(struct sys_child *child, char *const argv[],
		   char *const envp[], const int fds[3], unsigned flags,
		   struct error *err);

/*
 * A callback that receives bytes written by a child. Returns 0, or a negative
 * error code to end the dialogue.
 */
typedef int sys_talk_fn(void *ctx, const char *bytes, size_t len,
			struct error *err);

/*
 * The input to write to a child, and the callbacks that receive the child's
 * output, for sys_spawn_talk().
 */
struct sys_talk {
	/*
	 * borrowed: the bytes to write to child->in; afterwards child->in is
	 * closed
	 */
	const void *input;
	size_t input_len;
	/*
	 * Each time that the child has written nothing for this number of
	 * milliseconds, `output` is called with no bytes. 0: never.
	 */
	unsigned silence_ms;
	/* receives what the child writes to its standard output */
	sys_talk_fn *output;
	/*
	 * Receives what the child writes to its standard error. If both streams
	 * have bytes, `errors` is called before `output`. NULL: child->err is
	 * not read.
	 */
	sys_talk_fn *errors;
	void *ctx;
};

/*
 * Writes the input of the child and reads its output, each when the child is
 * ready for it. Ends when the child has closed its outputs, and has read or
 * closed its input. A child that ends without reading all its input is not an
 * error.
 *
 * Returns 0, ERR_IO, or the negative result of talk->output or talk->errors.
 * The caller calls sys_spawn_wait() in any case.
 */
int sys_spawn_talk(struct sys_child *child, const struct sys_talk *talk,
		   struct error *err);

/*
 * Writes bytes to the child's input, and waits until the pipe has taken them
 * all. Meanwhile, `output` gets the bytes of the child's standard output. So a
 * child that writes much before it reads its input cannot block this process
 * for ever. Closes child->in if the child has closed its input, and child->out
 * (sets it to -1) at the end of the child's output. The callback may end the
 * input with sys_spawn_close_in(). Once child->in is closed, the rest of the
 * bytes is dropped, and this is not an error.
 *
 * Returns 0, ERR_IO, or the negative result of `output`.
 */
int sys_spawn_put(struct sys_child *child, const void *bytes, size_t len,
		  sys_talk_fn *output, void *ctx, struct error *err);

/*
 * Closes the write end of the child's standard input, so that the child reads
 * the end of its input.
 */
void sys_spawn_close_in(struct sys_child *child);

/*
 * Closes those of child->in, child->out and child->err that are still open, and
 * waits for the end of the child, `ms` milliseconds at most (-1: no limit).
 * Also stops waiting when nobody can read any more what is written to the
 * descriptor `fd` (-1: none). Returns false if the child still runs. Returns
 * true if the child has ended, or if this process cannot wait with a limit. The
 * caller calls sys_spawn_wait() in any case.
 */
bool sys_spawn_await(struct sys_child *child, int fd, int ms);

/*
 * Closes those of child->in, child->out and child->err that are still open, and
 * waits for the child. Returns its exit status 0..255, or 128 plus the signal
 * number if a signal killed it, or ERR_IO.
 */
int sys_spawn_wait(struct sys_child *child, struct error *err);

/*
 * Forks this process, which must have no other threads and no registered
 * temporary files. The child gets SIGTERM when its parent ends. Returns the
 * child's process id, 0 in the child, or ERR_IO.
 */
pid_t sys_fork(struct error *err);

/*
 * A child of sys_fork() calls this function, so that the child goes on running
 * when its parent ends.
 */
void sys_fork_outlive(void);

/*
 * Finds a child that has ended, without waiting. Returns its process id and
 * sets *status to its exit status, or to 128 plus the number of the signal that
 * killed the child. Returns 0 if no child has ended, or -1 if there are no
 * children.
 */
pid_t sys_fork_collect(int *status);

/*
 * Sends a signal to the process `pid`. If the process has ended, this is no
 * error.
 */
void sys_fork_signal(pid_t pid, int signal_nr);

#endif
