/* SPDX-License-Identifier: MIT */
/* TCP sockets, with limited waiting. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sys/clock.h"
#include "sys/io.h"
#include "sys/tcp.h"

#define MS_NS UINT64_C(1000000)

/*
 * Maximum number of bytes that wait in the kernel until they can be sent to a
 * client. Without a limit, a client that reads slowly occupies 2 MiB of the
 * kernel's memory.
 */
#define UNSENT_MAX (256 << 10)

/* maximum number of spans in one system call; the kernel's limit is 1024 */
#define SPANS_MAX 1024

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/*
 * Parses a numeric address into *a. Returns the length of *a in bytes, or 0 if
 * the text is not numeric.
 */
static socklen_t parse_address(union address *a, const char *text,
			       uint16_t port)
{
	memset(a, 0, sizeof(*a));
	if (inet_pton(AF_INET, text, &a->v4.sin_addr) == 1) {
		a->v4.sin_family = AF_INET;
		a->v4.sin_port = htons(port);
		return sizeof(a->v4);
	}
	if (inet_pton(AF_INET6, text, &a->v6.sin6_addr) != 1)
		return 0;
	a->v6.sin6_family = AF_INET6;
	a->v6.sin6_port = htons(port);
	return sizeof(a->v6);
}

bool sys_address_is_valid(const char *address)
{
	union address a;

	return parse_address(&a, address, 0) > 0;
}

int sys_socket_listen(const char *address, uint16_t port, struct error *err)
{
	union address a;
	socklen_t len = parse_address(&a, address, port);
	int on = 1, fd, ret;

	if (!len)
		return error_set(err, ERR_INVALID,
				 "'%s' is not a numeric address", address);
	fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
		    0);
	if (fd < 0)
		return error_set_errno(err, "cannot create a socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (a.any.sa_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	if (!bind(fd, &a.any, len) && !listen(fd, SOMAXCONN))
		return fd;
	ret = error_set_errno(err, "cannot listen on %s port %u", address,
			      (unsigned)port);
	sys_close(fd);
	return ret;
}

int sys_socket_adopt(int fd, struct error *err)
{
	int listens = 0;
	socklen_t len = sizeof(listens);

	if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) < 0 ||
	    !listens)
		return error_set(err, ERR_INVALID,
				 "descriptor %d is not a listening socket", fd);
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return 0;
}

uint16_t sys_socket_port(int fd)
{
	union address a;
	socklen_t len = sizeof(a);

	if (getsockname(fd, &a.any, &len) < 0)
		return 0;
	if (a.any.sa_family == AF_INET)
		return ntohs(a.v4.sin_port);
	return a.any.sa_family == AF_INET6 ? ntohs(a.v6.sin6_port) : 0;
}

int sys_socket_accept(int fd, char address[SYS_ADDRESS_MAX], struct error *err)
{
	union address a;
	socklen_t len = sizeof(a);
	int on = 1, unsent = UNSENT_MAX;
	int peer = accept4(fd, &a.any, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (peer < 0 &&
	    (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED))
		return error_set(err, ERR_MISSING, "no connection waits");
	if (peer < 0)
		return error_set_errno(err, "cannot accept a connection");
	if (a.any.sa_family == AF_UNIX) {
		strcpy(address, "ssh");
		return peer;
	}
	/*
	 * Nagle's algorithm is off, because it could delay the last bytes of an
	 * answer. UNSENT_MAX limits the bytes that wait in the kernel.
	 */
	setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(peer, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent,
		   sizeof(unsent));
	if (!inet_ntop(a.any.sa_family,
		       a.any.sa_family == AF_INET ? (void *)&a.v4.sin_addr
						  : (void *)&a.v6.sin6_addr,
		       address, SYS_ADDRESS_MAX))
		strcpy(address, "?");
	return peer;
}

static int is_busy(void)
{
	return errno == EAGAIN || errno == EINTR;
}

/*
 * Writes bytes to a socket or pipe with one system call. Returns the number of
 * bytes, or -1.
 */
static ssize_t send_spans(int fd, const struct iovec *iov, size_t nr)
{
	const struct msghdr message = {
		.msg_iov = (struct iovec *)iov,
		.msg_iovlen = nr < SPANS_MAX ? nr : SPANS_MAX,
	};

	ssize_t n = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);

	return n < 0 && errno == ENOTSOCK
		       ? writev(fd, message.msg_iov, (int)message.msg_iovlen)
		       : n;
}

ssize_t sys_socket_try_read(int fd, void *bytes, size_t len)
{
	ssize_t n = recv(fd, bytes, len, MSG_DONTWAIT);

	if (n > 0)
		return n;
	return n < 0 && is_busy() ? 0 : ERR_PEER;
}

ssize_t sys_socket_try_writev(int fd, const struct iovec *iov, size_t nr)
{
	ssize_t n = send_spans(fd, iov, nr);

	if (n >= 0)
		return n;
	return is_busy() ? 0 : ERR_PEER;
}

void sys_socket_end_output(int fd)
{
	shutdown(fd, SHUT_WR);
}

void sys_socket_cut(int fd)
{
	shutdown(fd, SHUT_RDWR);
}

/*
 * Waits until the socket is ready for `events`, a signal arrives, or the rest
 * of the peer's time is over. Returns 0 in all three cases: the caller tries
 * to read or write, and calls this function again if the socket was not ready.
 * Returns ERR_PEER, without waiting, if the time was over before the call.
 */
static int wait_for(int fd, short events, struct sys_patience *patience,
		    struct error *err)
{
	struct pollfd ready = {.fd = fd, .events = events};
	uint64_t limit = patience->limit_ms * MS_NS, start = sys_clock_ns();
	int n, ret;

	if (patience->waited_ns >= limit)
		return error_set(err, ERR_PEER, "the client is too slow");
	if (patience->waits)
		patience->waits(patience->ctx, true);
	n = poll(&ready, 1,
		 (int)((limit - patience->waited_ns + MS_NS - 1) / MS_NS));
	patience->waited_ns += sys_clock_ns() - start;
	ret = n < 0 && errno != EINTR
		      ? error_set_errno(err, "cannot wait for the client")
		      : 0;
	if (patience->waits)
		patience->waits(patience->ctx, false);
	return ret;
}

int sys_socket_wait_readable(int fd, struct sys_patience *patience,
			     struct error *err)
{
	return wait_for(fd, POLLIN, patience, err);
}

int sys_socket_wait_writable(int fd, struct sys_patience *patience,
			     struct error *err)
{
	return wait_for(fd, POLLOUT, patience, err);
}

void sys_patience_renew(struct sys_patience *patience)
{
	patience->moved = patience->waited_ns = 0;
}

void sys_patience_count(struct sys_patience *patience, size_t n)
{
	patience->moved += n;
	if (patience->moved >= SYS_PATIENCE_BYTES)
		sys_patience_renew(patience);
}

static int lost(struct error *err)
{
	error_set_errno(err, "lost the connection to the client");
	return error_recode(err, ERR_PEER);
}

ssize_t sys_socket_read(int fd, void *bytes, size_t len,
			struct sys_patience *patience, struct error *err)
{
	for (;;) {
		ssize_t n = recv(fd, bytes, len, MSG_DONTWAIT);
		int ret;

		if (n < 0 && errno == ENOTSOCK)
			n = read(fd, bytes, len);
		if (n >= 0) {
			sys_patience_count(patience, (size_t)n);
			return n;
		}
		if (!is_busy())
			return lost(err);
		ret = sys_socket_wait_readable(fd, patience, err);
		if (ret < 0)
			return ret;
	}
}

void sys_spans_skip(struct iovec **iov, size_t *nr, size_t n)
{
	while (*nr && n >= (*iov)->iov_len) {
		n -= (*iov)->iov_len;
		++*iov;
		--*nr;
	}
	if (!*nr)
		return;
	(*iov)->iov_base = (uint8_t *)(*iov)->iov_base + n;
	(*iov)->iov_len -= n;
}

int sys_socket_writev(int fd, struct iovec *iov, size_t nr,
		      struct sys_patience *patience, struct error *err)
{
	/*
	 * Start the time limit for the peer again for each message that is
	 * written, so that earlier waits for input do not count.
	 */
	sys_patience_renew(patience);
	sys_spans_skip(&iov, &nr, 0);
	while (nr) {
		ssize_t n = send_spans(fd, iov, nr);
		int ret = 0;

		if (n >= 0) {
			sys_patience_count(patience, (size_t)n);
			sys_spans_skip(&iov, &nr, (size_t)n);
		} else if (is_busy()) {
			ret = sys_socket_wait_writable(fd, patience, err);
		} else {
			ret = lost(err);
		}
		if (ret < 0)
			return ret;
	}
	return 0;
}
