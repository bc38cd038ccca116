/* SPDX-License-Identifier: MIT */
/*
 * The server's side of TLS 1.2 and 1.3, with OpenSSL. All connections share one
 * struct tls. It is made before the workers are forked, so that each worker
 * accepts session tickets of the others. Only one thread at a time may use a
 * connection. SIGPIPE must be ignored.
 *
 * Clients cannot renegotiate. ALPN offers only HTTP/1.1. The kernel's TLS is
 * not used. With it, OpenSSL repeats an unfinished write from the old address,
 * but the bytes may have moved since.
 */
#ifndef DAEMON_TLS_H
#define DAEMON_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/error.h"

struct tls;

/* A connection. */
struct tls_conn {
	/* borrowed; NULL: there is no connection */
	const struct tls *tls;
	struct ssl_st *ssl; /* owned: an SSL of OpenSSL */
};

/* maximum bytes of one TLS record */
#define TLS_RECORD_MAX 16384

/*
 * Loads OpenSSL, a certificate with its chain, and its private key, from PEM
 * files. Returns 0 with *out owned by the caller, ERR_NOMEM, or ERR_INVALID.
 * After ERR_INVALID, *is_key is set to whether the key is the cause: its file
 * cannot be read or has no key, or the key does not match the certificate.
 */
int tls_open(struct tls **out, const char *certificate, const char *key,
	     bool *is_key, struct error *err);
void tls_close(struct tls *tls);

/* The event that a call needs before it can be repeated. */
enum tls_wait {
	/* no event: the call has done its work */
	TLS_READY,
	TLS_INPUT,
	TLS_OUTPUT,
};

/*
 * tls_accept() starts a connection over a non-blocking socket. `fd` is
 * borrowed. Returns false if memory runs out; *conn then has no connection.
 * tls_release() frees the connection without sending anything. Without a
 * connection, tls_release() does nothing.
 */
bool tls_accept(struct tls_conn *conn, const struct tls *tls, int fd);
void tls_release(struct tls_conn *conn);

/*
 * Continues the handshake. Returns 0 with *wait set, ERR_UNSUPPORTED if the
 * client speaks HTTP without TLS, ERR_MISSING if the client has closed the
 * connection without sending a byte, or ERR_PEER.
 */
int tls_handshake(struct tls_conn *conn, enum tls_wait *wait,
		  struct error *err);

/*
 * Reads up to `len` bytes. Returns their number, or ERR_PEER if the connection
 * is broken. Returns 0 if *wait is not TLS_READY, or if the peer has ended its
 * output.
 */
ssize_t tls_read(struct tls_conn *conn, void *bytes, size_t len,
		 enum tls_wait *wait, struct error *err);

/*
 * Returns whether tls_read() has bytes that are decrypted already. epoll does
 * not report them, because they are no longer in the socket.
 */
bool tls_has_bytes(const struct tls_conn *conn);

/*
 * Writes bytes of `nr` spans, from the first span on, at most one TLS record.
 * Short spans are copied together. Returns the number of bytes, or 0 with *wait
 * set to TLS_OUTPUT. Returns ERR_PEER if the connection is broken, or if the
 * client has sent only a part of a handshake message. After a 0, the next call
 * must begin with the same bytes and must have at least as many. The bytes may
 * be at another address.
 */
ssize_t tls_writev(struct tls_conn *conn, const struct iovec *iov, size_t nr,
		   enum tls_wait *wait, struct error *err);

/* Tells the peer that no more bytes will be sent, without waiting. */
void tls_end_output(struct tls_conn *conn);

#endif
