/* SPDX-License-Identifier: MIT */
/*
 * Messages with open file descriptors between two processes of one machine,
 * over a socket file (unix(7), SOCK_SEQPACKET). A message arrives as a whole.
 */
#ifndef SYS_PASSING_H
#define SYS_PASSING_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

/* maximum number of descriptors in one message */
#define SYS_PASSING_MAX 3

/*
 * Creates the socket file `path` and listens on it. Only the owner and the
 * group of the file may connect (mode 0660). A socket file that exists is
 * replaced if no process listens on it. Returns the descriptor, which does not
 * block, or ERR_IO.
 */
int sys_passing_listen(const char *path, struct error *err);

/*
 * Accepts a connection from a listening socket. Returns the descriptor of the
 * connection, in blocking mode; ERR_MISSING if no client waits for a
 * connection; or ERR_IO.
 */
int sys_passing_accept(int listener, struct error *err);

/*
 * Returns whether the peer, the process at the other end of the connection
 * `fd`, belongs to the user of this process or to root. What counts is the
 * peer's user when the peer connected or began to listen.
 */
bool sys_passing_is_own(int fd);

/*
 * Limits how long a send or a receive on a blocking socket waits. After this
 * time the call fails with ERR_PEER. 0: no limit.
 */
void sys_passing_limit(int fd, unsigned seconds);

/*
 * Connects to a socket file on which another process listens. If that process
 * accepts no connections and its queue is full, the call waits for up to
 * `seconds`. Returns a blocking descriptor with sys_passing_limit() of
 * `seconds`, or ERR_IO.
 */
int sys_passing_connect(const char *path, unsigned seconds, struct error *err);

/*
 * Sends one message with `fd_nr` descriptors. No SIGPIPE is sent. Returns 0, or
 * ERR_PEER if the peer is gone.
 */
int sys_passing_send(int fd, const void *bytes, size_t len, const int *fds,
		     size_t fd_nr, struct error *err);

/*
 * Receives one message of at most `max` bytes with exactly `fd_nr` descriptors,
 * which the caller closes. Returns the number of bytes. Returns ERR_PEER if the
 * peer is gone, or if the message is empty, too long, or has another number of
 * descriptors; then no descriptor of the message is left open.
 */
ssize_t sys_passing_receive(int fd, void *bytes, size_t max, int *fds,
			    size_t fd_nr, struct error *err);

/*
 * Ends the input from the peer: later sends of the peer fail with ERR_PEER.
 * Messages that have arrived can still be received, and this side can still
 * send.
 */
void sys_passing_end_input(int fd);

/*
 * Copies the next message without its descriptors. The message stays for
 * sys_passing_receive(). Does not wait. Returns the number of bytes, or 0 if
 * there is no message, or if the message is longer than `max` bytes.
 */
size_t sys_passing_peek(int fd, void *bytes, size_t max);

/*
 * sys_passing_unblock() makes a pipe or socket non-blocking. *was_blocking is
 * set to whether it was blocking before. Returns false, with nothing changed,
 * if the descriptor is neither a pipe nor a socket. sys_passing_block() makes
 * the descriptor blocking again.
 */
bool sys_passing_unblock(int fd, bool *was_blocking);
void sys_passing_block(int fd);

/*
 * A pipe or socket of another process, for use by the functions of sys/tcp.h.
 * These functions must not block. O_NONBLOCK would also change the descriptor
 * of the other process and of its parents. So this flag is avoided:
 *
 *	socket  the functions for sockets never block
 *	pipe    the pipe is opened once more, by its name in /proc
 *
 * A pipe of another user cannot be opened. Only in this case, O_NONBLOCK is set
 * until sys_passing_close().
 */
struct sys_passing_end {
	/*
	 * the descriptor that the other process has passed; the caller closes
	 * it
	 */
	int passed;
	/*
	 * the descriptor to read or write: equal to `passed`, or a descriptor
	 * that was opened for the same pipe
	 */
	int fd;
	bool was_blocking; /* must block again */
};

/*
 * Prepares the descriptor `fd`, which another process has passed, for reading,
 * or if `is_output` for writing. Returns 0, or ERR_INVALID if it is neither a
 * pipe nor a socket. sys_passing_close() ends the use, and does not close
 * end->passed.
 */
int sys_passing_open(struct sys_passing_end *end, int fd, bool is_output);
void sys_passing_close(struct sys_passing_end *end);

#endif
