/* SPDX-License-Identifier: MIT */
/*
 * TCP sockets: listening, accepting, reading and writing. Functions that wait
 * for a peer take a time limit (struct sys_patience). They wait in poll(),
 * never in the read or write itself, even if the socket is in blocking mode.
 */
#ifndef SYS_TCP_H
#define SYS_TCP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/buf.h"
#include "base/error.h"

/* size in bytes of the text of a numeric address, with its NUL */
#define SYS_ADDRESS_MAX 46

/* Returns whether the text is a numeric IPv4 or IPv6 address. */
bool sys_address_is_valid(const char *address);

/*
 * Listens on a numeric IPv4 or IPv6 address. Port 0: the system chooses one.
 * Returns the descriptor, ERR_INVALID if `address` is not numeric, or ERR_IO.
 */
int sys_socket_listen(const char *address, uint16_t port, struct error *err);

/*
 * Prepares a listening socket that another program has opened: accepting does
 * not block, and children do not inherit the socket. Returns 0, or ERR_INVALID
 * if the descriptor is not a listening socket.
 */
int sys_socket_adopt(int fd, struct error *err);

/* Returns the port of a listening socket, or 0 if it is unknown. */
uint16_t sys_socket_port(int fd);

/*
 * Accepts a connection from a listening socket, and sets `address` to the
 * numeric address of the client. Returns the descriptor of the connection,
 * ERR_MISSING if no client waits for a connection, or ERR_IO.
 */
int sys_socket_accept(int fd, char address[SYS_ADDRESS_MAX], struct error *err);

/*
 * Reads without waiting. Returns the number of bytes, 0 if none have arrived
 * yet, or ERR_PEER if the peer has ended or reset the connection.
 */
ssize_t sys_socket_try_read(int fd, void *bytes, size_t len);

/*
 * Writes as many bytes of `nr` spans as the socket accepts without waiting,
 * from the first span on. Returns the number of bytes, 0 if the socket accepts
 * none now, or ERR_PEER if the peer is gone. A pipe that does not block is
 * allowed, see sys_socket_read().
 */
ssize_t sys_socket_try_writev(int fd, const struct iovec *iov, size_t nr);

/* Tells the peer that no more bytes will be sent. */
void sys_socket_end_output(int fd);

/*
 * Ends both directions of a connection, and keeps the descriptor. If another
 * thread waits for the peer, the wait ends, and the thread then finds the
 * connection closed.
 */
void sys_socket_cut(int fd);

/*
 * How long this process waits for a peer. For each 64 KiB that the peer accepts
 * or sends, all waits together may take at most limit_ms.
 */
struct sys_patience {
	unsigned limit_ms;
	uint64_t waited_ns; /* for the current 64 KiB */
	/*
	 * number of bytes that were read or written since the time limit
	 * started; at SYS_PATIENCE_BYTES (64 KiB) the limit starts again
	 */
	uint64_t moved;
	/*
	 * Called with true when a wait for the peer begins, and with false when
	 * the wait ends; NULL: no call.
	 */
	void (*waits)(void *ctx, bool begins);
	void *ctx;
};

/*
 * after this number of read or written bytes, the time limit for the peer
 * starts again
 */
#define SYS_PATIENCE_BYTES 65536

/*
 * sys_socket_wait_readable() waits until the socket has bytes,
 * sys_socket_wait_writable() until it can be written. Both return 0, perhaps
 * early: the caller tries again. They return ERR_PEER if the peer's time was
 * over before the call.
 */
int sys_socket_wait_readable(int fd, struct sys_patience *patience,
			     struct error *err);
int sys_socket_wait_writable(int fd, struct sys_patience *patience,
			     struct error *err);

/*
 * Records that `n` bytes were read from the peer or written to it. Each time
 * that SYS_PATIENCE_BYTES bytes were read or written, the time limit for the
 * peer starts again.
 */
void sys_patience_count(struct sys_patience *patience, size_t n);

/*
 * Starts the time limit for the peer again. Call this before a message to the
 * peer is written, so that earlier waits do not count.
 */
void sys_patience_renew(struct sys_patience *patience);

/*
 * Removes the first `n` bytes from the spans: advances *iov and lowers *nr.
 * There must be at least `n` bytes.
 */
void sys_spans_skip(struct iovec **iov, size_t *nr, size_t n);

/*
 * sys_socket_read() and sys_socket_writev() also accept a pipe that does not
 * block. The process must ignore SIGPIPE if a pipe is written.
 *
 * sys_socket_read() reads up to `len` (> 0) bytes, and waits for the first one.
 * Returns the number of bytes, 0 if the peer has ended its output, or ERR_PEER
 * if the peer is gone or its time is over.
 */
ssize_t sys_socket_read(int fd, void *bytes, size_t len,
			struct sys_patience *patience, struct error *err);

/*
 * Writes all bytes of `nr` spans. The array is modified. No SIGPIPE is sent.
 * Returns 0, or ERR_PEER if the peer is gone or its time is over.
 */
int sys_socket_writev(int fd, struct iovec *iov, size_t nr,
		      struct sys_patience *patience, struct error *err);

#endif
