/* SPDX-License-Identifier: MIT */
/* Messages with file descriptors over socket files. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "sys/io.h"
#include "sys/passing.h"

/*
 * Seconds that a test connection to an existing socket file may take. If a
 * process listens on it, the connection is made within this time.
 */
#define PROBE_SECONDS 1

/* a control message with descriptors; the union aligns the bytes */
union control {
	char bytes[CMSG_SPACE(SYS_PASSING_MAX * sizeof(int))];
	struct cmsghdr align;
};

/*
 * Maximum number of descriptors that the kernel can store in a union control.
 * This is more than SYS_PASSING_MAX if the union has padding at its end.
 */
#define CONTROL_FDS ((sizeof(union control) - CMSG_LEN(0)) / sizeof(int))

static int make_address(struct sockaddr_un *a, const char *path,
			struct error *err)
{
	size_t len = strlen(path);

	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	if (!len || len >= sizeof(a->sun_path))
		return error_set(err, ERR_IO,
				 "the path of the socket '%.40s...' is too "
				 "long",
				 path);
	memcpy(a->sun_path, path, len);
	return 0;
}

void sys_passing_limit(int fd, unsigned seconds)
{
	struct timeval t = {.tv_sec = seconds};

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof(t));
}

int sys_passing_connect(const char *path, unsigned seconds, struct error *err)
{
	struct sockaddr_un a;
	int ret = make_address(&a, path, err), fd;

	if (ret < 0)
		return ret;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return error_set_errno(err, "cannot create a socket");
	sys_passing_limit(fd, seconds);
	if (!connect(fd, (const struct sockaddr *)&a, sizeof(a)))
		return fd;
	ret = error_set_errno(err, "cannot connect to '%s'", path);
	sys_close(fd);
	return ret;
}

/* Removes a socket file if no process listens on it. */
static void remove_stale(const char *path)
{
	struct stat st;
	int fd;

	if (lstat(path, &st) < 0 || !S_ISSOCK(st.st_mode))
		return;
	fd = sys_passing_connect(path, PROBE_SECONDS, NULL);
	if (fd < 0 && errno == ECONNREFUSED)
		unlink(path);
	if (fd >= 0)
		sys_close(fd);
}

int sys_passing_listen(const char *path, struct error *err)
{
	struct sockaddr_un a;
	int ret = make_address(&a, path, err), fd;

	if (ret < 0)
		return ret;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return error_set_errno(err, "cannot create a socket");
	remove_stale(path);
	/*
	 * No client can connect before listen(), so all clients see the final
	 * permissions.
	 */
	if (!bind(fd, (const struct sockaddr *)&a, sizeof(a)) &&
	    !chmod(path, 0660) && !listen(fd, SOMAXCONN))
		return fd;
	ret = error_set_errno(err, "cannot listen on '%s'", path);
	sys_close(fd);
	return ret;
}

int sys_passing_accept(int listener, struct error *err)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd >= 0)
		return fd;
	if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)
		return error_set(err, ERR_MISSING, "no connection waits");
	return error_set_errno(err, "cannot accept a connection");
}

bool sys_passing_is_own(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) &&
	       (peer.uid == geteuid() || !peer.uid);
}

int sys_passing_send(int fd, const void *bytes, size_t len, const int *fds,
		     size_t fd_nr, struct error *err)
{
	struct iovec iov = {(void *)bytes, len};
	struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};
	union control control = {.bytes = {0}};
	struct cmsghdr *c = &control.align;
	ssize_t n;

	if (fd_nr) {
		message.msg_control = control.bytes;
		message.msg_controllen = CMSG_SPACE(fd_nr * sizeof(int));
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(fd_nr * sizeof(int));
		memcpy(CMSG_DATA(c), fds, fd_nr * sizeof(int));
	}
	do
		n = sendmsg(fd, &message, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n == (ssize_t)len)
		return 0;
	error_set_errno(err, "cannot send a message");
	return error_recode(err, ERR_PEER);
}

/*
 * Copies the descriptors of a received message to `out`. Returns their number.
 */
static size_t take_fds(struct msghdr *message, int out[CONTROL_FDS])
{
	struct cmsghdr *c = CMSG_FIRSTHDR(message);
	size_t nr;

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
		return 0;
	nr = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	memcpy(out, CMSG_DATA(c), nr * sizeof(int));
	return nr;
}

ssize_t sys_passing_receive(int fd, void *bytes, size_t max, int *fds,
			    size_t fd_nr, struct error *err)
{
	struct iovec iov = {bytes, max};
	union control control;
	struct msghdr message = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	int got[CONTROL_FDS];
	ssize_t n;
	size_t nr;

	do
		n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	nr = n < 0 ? 0 : take_fds(&message, got);
	if (n > 0 && nr == fd_nr &&
	    !(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
		if (nr)
			memcpy(fds, got, nr * sizeof(int));
		return n;
	}
	while (nr)
		sys_close(got[--nr]);
	return error_set(err, ERR_PEER, "no valid message has arrived");
}

void sys_passing_end_input(int fd)
{
	shutdown(fd, SHUT_RD);
}

size_t sys_passing_peek(int fd, void *bytes, size_t max)
{
	ssize_t n = recv(fd, bytes, max, MSG_PEEK | MSG_DONTWAIT | MSG_TRUNC);

	return n > 0 && (size_t)n <= max ? (size_t)n : 0;
}

bool sys_passing_unblock(int fd, bool *was_blocking)
{
	struct stat st;
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fstat(fd, &st) < 0 ||
	    !(S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
		return false;
	*was_blocking = !(flags & O_NONBLOCK);
	return !fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

void sys_passing_block(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags >= 0)
		fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
}

/*
 * Opens a pipe a second time, in non-blocking mode. Returns the descriptor, or
 * -1 if this is not possible, for example because the pipe belongs to another
 * user.
 */
static int reopen(int fd, bool is_output)
{
	char name[64];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	return open(name, (is_output ? O_WRONLY : O_RDONLY) | O_NONBLOCK |
				  O_CLOEXEC | O_NOCTTY);
}

int sys_passing_open(struct sys_passing_end *end, int fd, bool is_output)
{
	struct stat st;
	int own;

	*end = (struct sys_passing_end){.passed = fd, .fd = fd};
	if (fstat(fd, &st) < 0 ||
	    !(S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
		return ERR_INVALID;
	if (S_ISSOCK(st.st_mode))
		return 0;
	own = reopen(fd, is_output);
	if (own >= 0)
		end->fd = own;
	else if ((errno != EACCES && errno != EPERM) ||
		 !sys_passing_unblock(fd, &end->was_blocking))
		return ERR_INVALID;
	return 0;
}

void sys_passing_close(struct sys_passing_end *end)
{
	if (end->fd != end->passed)
		sys_close(end->fd);
	if (end->was_blocking)
		sys_passing_block(end->passed);
	end->fd = end->passed;
	end->was_blocking = false;
}
