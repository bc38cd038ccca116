/* SPDX-License-Identifier: MIT */
/* Reads and writes the socket of a connection, with TLS or without. */
#include "daemon/stream.h"
#include "sys/io.h"

void daemon_stream_init(struct daemon_stream *s, int fd)
{
	*s = (struct daemon_stream){.fd = fd};
}

bool daemon_stream_is_tls(const struct daemon_stream *s)
{
	return s->tls.tls != NULL;
}

void daemon_stream_release(struct daemon_stream *s)
{
	tls_release(&s->tls);
	sys_close(s->fd);
	s->fd = -1;
}

bool daemon_stream_encrypt(struct daemon_stream *s, const struct tls *tls)
{
	return tls_accept(&s->tls, tls, s->fd);
}

int daemon_stream_handshake(struct daemon_stream *s, enum tls_wait *wait,
			    struct error *err)
{
	int ret = tls_handshake(&s->tls, wait, err);

	if (ret == ERR_UNSUPPORTED)
		tls_release(&s->tls);
	return ret;
}

bool daemon_stream_has_bytes(const struct daemon_stream *s)
{
	return daemon_stream_is_tls(s) && tls_has_bytes(&s->tls);
}

ssize_t daemon_stream_try_read(struct daemon_stream *s, void *bytes, size_t len)
{
	enum tls_wait wait;
	ssize_t n;

	if (!daemon_stream_is_tls(s))
		return sys_socket_try_read(s->fd, bytes, len);
	n = tls_read(&s->tls, bytes, len, &wait, NULL);
	s->wants_room = wait == TLS_OUTPUT;
	return !n && wait == TLS_READY ? ERR_PEER : n;
}

ssize_t daemon_stream_try_writev(struct daemon_stream *s,
				 const struct iovec *iov, size_t nr)
{
	enum tls_wait wait;

	return daemon_stream_is_tls(s)
		       ? tls_writev(&s->tls, iov, nr, &wait, NULL)
		       : sys_socket_try_writev(s->fd, iov, nr);
}

static int wait_for(const struct daemon_stream *s, enum tls_wait wait,
		    struct sys_patience *patience, struct error *err)
{
	return wait == TLS_INPUT
		       ? sys_socket_wait_readable(s->fd, patience, err)
		       : sys_socket_wait_writable(s->fd, patience, err);
}

ssize_t daemon_stream_read(struct daemon_stream *s, void *bytes, size_t len,
			   struct sys_patience *patience, struct error *err)
{
	enum tls_wait wait;

	if (!daemon_stream_is_tls(s))
		return sys_socket_read(s->fd, bytes, len, patience, err);
	for (;;) {
		ssize_t n = tls_read(&s->tls, bytes, len, &wait, err);
		int ret;

		if (n || wait == TLS_READY) {
			sys_patience_count(patience, n > 0 ? (size_t)n : 0);
			return n;
		}
		ret = wait_for(s, wait, patience, err);
		if (ret < 0)
			return ret;
	}
}

int daemon_stream_wait_writable(struct daemon_stream *s,
				struct sys_patience *patience,
				struct error *err)
{
	return sys_socket_wait_writable(s->fd, patience, err);
}

void daemon_stream_end_output(struct daemon_stream *s)
{
	if (daemon_stream_is_tls(s))
		tls_end_output(&s->tls);
	tls_release(&s->tls);
	s->wants_room = false;
	sys_socket_end_output(s->fd);
}
