/* SPDX-License-Identifier: MIT */
/*
 * The bytes between a connection and its socket, encrypted by TLS or not. The
 * loop uses the functions that do not wait; threads use those that wait. Only
 * one thread at a time may use a stream, even if one thread only reads and
 * another only writes. The socket does not block.
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
};

/* Initialises a stream, which owns the socket. */
void daemon_stream_init(struct daemon_stream *s, int fd);

/* Closes the socket. Nothing is sent. */
void daemon_stream_release(struct daemon_stream *s);

/*
 * Encrypts the stream from now on. Returns false if memory is out. Before other
 * calls, daemon_stream_handshake() must be repeated until *wait is TLS_READY;
 * it works like tls_handshake(). If the client speaks HTTP without TLS, the
 * stream is not encrypted afterwards, so that the client can be told.
 */
bool daemon_stream_encrypt(struct daemon_stream *s, const struct tls *tls);
int daemon_stream_handshake(struct daemon_stream *s, enum tls_wait *wait,
			    struct error *err);

/* Returns whether the stream is encrypted. */
bool daemon_stream_is_tls(const struct daemon_stream *s);

/*
 * Returns whether bytes can be read that the socket does not report, because
 * they were decrypted before.
 */
bool daemon_stream_has_bytes(const struct daemon_stream *s);

/*
 * Reads without waiting. Returns the number of bytes, 0 if none have arrived
 * yet, or ERR_PEER if the peer has ended or reset the connection.
 */
ssize_t daemon_stream_try_read(struct daemon_stream *s, void *bytes,
			       size_t len);

/*
 * Writes the first bytes of `nr` spans without waiting. The array is not
 * modified. Returns the number of bytes, 0 if the socket accepts none now, or
 * ERR_PEER if the peer is gone. The next call after a 0 must begin with the
 * same bytes, and must have at least as many bytes.
 */
ssize_t daemon_stream_try_writev(struct daemon_stream *s,
				 const struct iovec *iov, size_t nr);

/* Works like sys_socket_read(). */
ssize_t daemon_stream_read(struct daemon_stream *s, void *bytes, size_t len,
			   struct sys_patience *patience, struct error *err);

/* Works like sys_socket_wait_writable(). */
int daemon_stream_wait_writable(struct daemon_stream *s,
				struct sys_patience *patience,
				struct error *err);

/*
 * Tells the peer that no more bytes will be sent. Bytes that are read later are
 * not decrypted, so they can only be dropped.
 */
void daemon_stream_end_output(struct daemon_stream *s);

#endif
