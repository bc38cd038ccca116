/* SPDX-License-Identifier: MIT */
/*
 * A stream reads and writes the bytes of one connection to a client, on a
 * non-blocking socket. The bytes may be encrypted by TLS. The event loop of the
 * process uses the functions that do not wait; threads use the functions that
 * wait. Only one thread at a time may use a stream, even if one thread only
 * reads and another only writes.
 */
#ifndef DAEMON_STREAM_H
#define DAEMON_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/error.h"
#include "daemon/tls.h"
#include "sys/tcp.h"

struct daemon_stream {
	int fd; /* owned */
	/* The TLS connection; without one, the stream is not encrypted. */
	struct tls_conn tls;
	/*
	 * daemon_stream_try_read() has returned 0 because TLS must send a
	 * message first, and the socket has no room for the message
	 */
	bool wants_room;
};

/* Initialises a stream, which owns the socket. */
void daemon_stream_init(struct daemon_stream *s, int fd);

/* Closes the socket. Nothing is sent. */
void daemon_stream_release(struct daemon_stream *s);

/*
 * daemon_stream_encrypt() encrypts the stream from now on. It returns false if
 * memory runs out. If it returns true, the caller must repeat
 * daemon_stream_handshake() until *wait is TLS_READY; see tls_handshake() for
 * its results. If the client speaks HTTP without TLS, the stream becomes
 * unencrypted again, so that the caller can send an error message.
 */
bool daemon_stream_encrypt(struct daemon_stream *s, const struct tls *tls);
int daemon_stream_handshake(struct daemon_stream *s, enum tls_wait *wait,
			    struct error *err);

/* Returns whether the stream is encrypted. */
bool daemon_stream_is_tls(const struct daemon_stream *s);

/*
 * Returns whether the stream has decrypted bytes that were not read yet. epoll
 * does not report them, because they are no longer in the socket.
 */
bool daemon_stream_has_bytes(const struct daemon_stream *s);

/*
 * Reads without waiting. Returns the number of bytes, or ERR_PEER if the peer
 * has ended or reset the connection. Returns 0 if no bytes have arrived yet, or
 * with s->wants_room set.
 */
ssize_t daemon_stream_try_read(struct daemon_stream *s, void *bytes,
			       size_t len);

/*
 * Writes as many bytes of `nr` spans as the socket accepts without waiting,
 * from the first span on. The array is not modified. Returns the number of
 * bytes, 0 if the socket accepts none now, or ERR_PEER if the peer is gone.
 * After a 0, the next call must begin with the same bytes, and must have at
 * least as many.
 */
ssize_t daemon_stream_try_writev(struct daemon_stream *s,
				 const struct iovec *iov, size_t nr);

/* Works like sys_socket_read(), with the same results. */
ssize_t daemon_stream_read(struct daemon_stream *s, void *bytes, size_t len,
			   struct sys_patience *patience, struct error *err);

/* Works like sys_socket_wait_writable(), with the same results. */
int daemon_stream_wait_writable(struct daemon_stream *s,
				struct sys_patience *patience,
				struct error *err);

/*
 * Tells the peer that no more bytes will be sent. Bytes that are read later are
 * not decrypted, so they can only be dropped.
 */
void daemon_stream_end_output(struct daemon_stream *s);

#endif
