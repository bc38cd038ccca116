/* SPDX-License-Identifier: MIT */
/*
 * Tests of sys/passing.c, which passes messages with file descriptors between
 * processes. Both ends of the connection are in this process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "sys/passing.h"
#include "sys/tcp.h"

struct ends {
	char path[64];
	int listener, client, server;
};

static void make(struct ends *e)
{
	snprintf(e->path, sizeof(e->path), "/tmp/test-passing.%ld",
		 (long)getpid());
	e->listener = sys_passing_listen(e->path, NULL);
	assert_true(e->listener >= 0);
	e->client = sys_passing_connect(e->path, 0, NULL);
	assert_true(e->client >= 0);
	e->server = accept(e->listener, NULL, NULL);
	assert_true(e->server >= 0);
}

static void release(struct ends *e)
{
	close(e->listener);
	close(e->client);
	close(e->server);
	unlink(e->path);
}

static void test_listens(void **state)
{
	struct ends e;
	struct stat st;
	int again;

	make(&e);
	assert_int_equal(stat(e.path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0660);
	assert_int_equal(sys_passing_listen(e.path, NULL), ERR_IO);
	close(e.listener);
	assert_int_equal(sys_passing_connect(e.path, 0, NULL), ERR_IO);
	/* No process listens on the existing socket file. So it is replaced. */
	again = sys_passing_listen(e.path, NULL);
	assert_true(again >= 0);
	e.listener = again;
	release(&e);
	assert_int_equal(sys_passing_connect(e.path, 0, NULL), ERR_IO);
	assert_int_equal(sys_passing_connect("", 0, NULL), ERR_IO);
}

static void test_passes(void **state)
{
	struct ends e;
	int out[2], fds[3] = {0, 0, 0};
	char got[8];

	make(&e);
	assert_int_equal(pipe(out), 0);
	assert_int_equal(sys_passing_send(e.client, "abc", 3, out, 2, NULL), 0);
	/*
	 * sys_passing_peek() reads a message without removing it. If the buffer
	 * is too small for the message, the function returns 0.
	 */
	assert_int_equal(sys_passing_peek(e.server, got, 2), 0);
	assert_int_equal(sys_passing_peek(e.server, got, 8), 3);
	assert_memory_equal(got, "abc", 3);
	memset(got, 0, sizeof(got));
	assert_int_equal(sys_passing_receive(e.server, got, 8, fds, 2, NULL),
			 3);
	assert_memory_equal(got, "abc", 3);
	assert_int_equal(sys_passing_peek(e.server, got, 8), 0);
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(read(out[0], got, 8), 1);
	assert_true(fcntl(fds[0], F_GETFD) & FD_CLOEXEC);
	for (int i = 0; i < 2; i++) {
		close(fds[i]);
		close(out[i]);
	}
	assert_int_equal(sys_passing_send(e.server, "d", 1, NULL, 0, NULL), 0);
	assert_int_equal(sys_passing_receive(e.client, got, 1, NULL, 0, NULL),
			 1);
	assert_int_equal(got[0], 'd');
	release(&e);
}

static void test_refuses(void **state)
{
	struct ends e;
	int in[3] = {0, 0, 0}, fds[3], next;
	char got[4];

	make(&e);
	next = dup(0);
	close(next);
	/*
	 * The receiver refuses messages with too many descriptors, with too
	 * few, and with too many bytes.
	 */
	sys_passing_send(e.client, "a", 1, in, 3, NULL);
	sys_passing_send(e.client, "a", 1, in, 1, NULL);
	sys_passing_send(e.client, "abcde", 5, in, 2, NULL);
	for (int i = 0; i < 3; i++)
		assert_int_equal(
			sys_passing_receive(e.server, got, 4, fds, 2, NULL),
			ERR_PEER);
	shutdown(e.client, SHUT_WR);
	assert_int_equal(sys_passing_receive(e.server, got, 4, fds, 2, NULL),
			 ERR_PEER);
	/*
	 * Check that no descriptor was leaked: the lowest free number is the
	 * same as before.
	 */
	fds[0] = dup(0);
	assert_int_equal(fds[0], next);
	close(fds[0]);
	release(&e);
}

/*
 * Sends a message with `fd_nr` descriptors, which may be more than
 * SYS_PASSING_MAX.
 */
static void send_fds(int fd, size_t fd_nr)
{
	union {
		char bytes[CMSG_SPACE(8 * sizeof(int))];
		struct cmsghdr align;
	} control = {.bytes = {0}};
	struct iovec iov = {(void *)"a", 1};
	struct msghdr message = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = CMSG_SPACE(fd_nr * sizeof(int)),
	};

	assert_true(fd_nr <= 8);
	control.align.cmsg_level = SOL_SOCKET;
	control.align.cmsg_type = SCM_RIGHTS;
	control.align.cmsg_len = CMSG_LEN(fd_nr * sizeof(int));
	assert_int_equal(sendmsg(fd, &message, 0), 1);
}

/*
 * A peer may send more descriptors than any message of ours has. The receiver
 * refuses the message and leaves no descriptor open.
 */
static void test_too_many(void **state)
{
	struct ends e;
	int fds[SYS_PASSING_MAX], next;
	char got[4];

	make(&e);
	next = dup(0);
	close(next);
	for (size_t nr = SYS_PASSING_MAX; nr <= 8; nr++) {
		send_fds(e.client, nr);
		assert_int_equal(sys_passing_receive(e.server, got, 4, fds,
						     SYS_PASSING_MAX, NULL),
				 nr == SYS_PASSING_MAX ? 1 : ERR_PEER);
		for (size_t i = 0; nr == SYS_PASSING_MAX && i < nr; i++)
			close(fds[i]);
		fds[0] = dup(0);
		assert_int_equal(fds[0], next);
		close(fds[0]);
	}
	release(&e);
}

static void test_blocking(void **state)
{
	bool was_blocking = false;
	int ends[2], file;

	assert_int_equal(pipe(ends), 0);
	assert_true(sys_passing_unblock(ends[0], &was_blocking));
	assert_true(was_blocking);
	assert_true(fcntl(ends[0], F_GETFL) & O_NONBLOCK);
	assert_true(sys_passing_unblock(ends[0], &was_blocking));
	assert_false(was_blocking);
	sys_passing_block(ends[0]);
	assert_false(fcntl(ends[0], F_GETFL) & O_NONBLOCK);
	close(ends[0]);
	close(ends[1]);
	assert_false(sys_passing_unblock(ends[0], &was_blocking));
	file = open("/dev/null", O_RDWR);
	assert_false(sys_passing_unblock(file, &was_blocking));
	assert_false(fcntl(file, F_GETFL) & O_NONBLOCK);
	close(file);
}

static bool blocks(int fd)
{
	return !(fcntl(fd, F_GETFL) & O_NONBLOCK);
}

/*
 * The receiver reads and writes the passed descriptors without blocking. The
 * descriptors of the sender must stay in blocking mode.
 */
static void test_open(void **state)
{
	struct sys_passing_end end;
	struct sys_patience patience = {.limit_ms = 1000};
	char bytes[4];
	int fds[2], file;

	assert_int_equal(pipe(fds), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(sys_passing_open(&end, fds[i], i == 1), 0);
		assert_int_not_equal(end.fd, fds[i]);
		assert_false(blocks(end.fd));
		assert_true(blocks(fds[i]));
		sys_passing_close(&end);
		assert_int_equal(end.fd, fds[i]);
		assert_true(blocks(fds[i]));
	}
	assert_int_equal(sys_passing_open(&end, fds[1], true), 0);
	assert_int_equal(write(end.fd, "abc", 3), 3);
	sys_passing_close(&end);
	assert_int_equal(read(fds[0], bytes, 4), 3);
	close(fds[0]);
	close(fds[1]);

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(sys_passing_open(&end, fds[0], false), 0);
	assert_int_equal(end.fd, fds[0]);
	assert_true(blocks(fds[0]));
	assert_int_equal(sys_socket_try_read(end.fd, bytes, 4), 0);
	assert_int_equal(write(fds[1], "ab", 2), 2);
	assert_int_equal(sys_socket_read(end.fd, bytes, 4, &patience, NULL), 2);
	sys_passing_close(&end);
	close(fds[0]);
	close(fds[1]);

	file = open("/dev/null", O_RDWR);
	assert_int_equal(sys_passing_open(&end, file, true), ERR_INVALID);
	close(file);
	assert_int_equal(sys_passing_open(&end, file, true), ERR_INVALID);
}

/*
 * If a pipe cannot be opened a second time for lack of permission, the passed
 * descriptor itself is made non-blocking. sys_passing_close() makes it blocking
 * again.
 */
static void test_open_fallback(void **state)
{
	struct sys_passing_end end;
	bool is_root = !geteuid();
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(fchmod(fds[1], 0), 0);
	/* In some containers, root cannot become another user. */
	if (is_root && seteuid(65534) < 0) {
		close(fds[0]);
		close(fds[1]);
		return;
	}
	assert_int_equal(sys_passing_open(&end, fds[1], true), 0);
	if (is_root)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(end.fd, fds[1]);
	assert_false(blocks(fds[1]));
	sys_passing_close(&end);
	assert_true(blocks(fds[1]));
	close(fds[0]);
	close(fds[1]);
}

static void test_accepts(void **state)
{
	struct ends e;
	int server, client;

	make(&e);
	assert_int_equal(sys_passing_accept(e.listener, NULL), ERR_MISSING);
	client = sys_passing_connect(e.path, 0, NULL);
	server = sys_passing_accept(e.listener, NULL);
	assert_true(client >= 0 && server >= 0);
	assert_true(sys_passing_is_own(client));
	assert_true(sys_passing_is_own(server));
	assert_int_equal(fcntl(server, F_GETFL) & O_NONBLOCK, 0);
	close(server);
	close(client);
	release(&e);
}

/*
 * A time limit ends a receive if the peer is silent, and a send if the peer
 * does not read.
 */
static void test_limit(void **state)
{
	static char bytes[65536];
	struct ends e;
	int ret = 0;

	make(&e);
	sys_passing_limit(e.client, 1);
	assert_int_equal(sys_passing_receive(e.client, bytes, 8, NULL, 0, NULL),
			 ERR_PEER);
	while (!ret)
		ret = sys_passing_send(e.client, bytes, sizeof(bytes), NULL, 0,
				       NULL);
	assert_int_equal(ret, ERR_PEER);
	release(&e);
}

static void ignore(int number)
{
	(void)number;
}

struct interruption {
	struct ends ends;
	pthread_t sender;
};

/*
 * Sends a signal to the sending thread, which waits for room in the socket.
 * Then receives the messages, so that the sending thread can go on.
 */
static void *interrupt(void *arg)
{
	struct interruption *in = arg;
	static char bytes[65536];

	usleep(100000);
	pthread_kill(in->sender, SIGUSR1);
	usleep(100000);
	while (sys_passing_receive(in->ends.server, bytes, sizeof(bytes), NULL,
				   0, NULL) > 1)
		;
	return NULL;
}

/* A signal does not end a send that waits for the peer to read. */
static void test_signal(void **state)
{
	static char bytes[65536];
	const struct sigaction action = {.sa_handler = ignore};
	struct interruption in = {.sender = pthread_self()};
	struct sigaction before;
	pthread_t thread;

	make(&in.ends);
	assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
	while (send(in.ends.client, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	assert_int_equal(pthread_create(&thread, NULL, interrupt, &in), 0);
	assert_int_equal(sys_passing_send(in.ends.client, bytes, sizeof(bytes),
					  NULL, 0, NULL),
			 0);
	assert_int_equal(
		sys_passing_send(in.ends.client, "z", 1, NULL, 0, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
	release(&in.ends);
}

/*
 * If a process accepts no connections and its queue is full, connecting fails,
 * and does not wait for long.
 */
static void test_full_queue(void **state)
{
	struct ends e;
	int first;

	make(&e);
	assert_int_equal(listen(e.listener, 0), 0);
	first = sys_passing_connect(e.path, 1, NULL);
	assert_true(first >= 0);
	assert_int_equal(sys_passing_connect(e.path, 1, NULL), ERR_IO);
	/*
	 * A process still listens on the socket file, so no second listener may
	 * replace the file.
	 */
	assert_int_equal(sys_passing_listen(e.path, NULL), ERR_IO);
	close(first);
	release(&e);
}

/*
 * After sys_passing_end_input(), the peer cannot send any more. A message that
 * arrived before is still received, and can be answered.
 */
static void test_ends_input(void **state)
{
	struct ends e;
	char got[4];

	make(&e);
	assert_int_equal(sys_passing_send(e.client, "a", 1, NULL, 0, NULL), 0);
	sys_passing_end_input(e.server);
	assert_int_equal(sys_passing_send(e.client, "b", 1, NULL, 0, NULL),
			 ERR_PEER);
	assert_int_equal(sys_passing_receive(e.server, got, 4, NULL, 0, NULL),
			 1);
	assert_int_equal(got[0], 'a');
	assert_int_equal(sys_passing_receive(e.server, got, 4, NULL, 0, NULL),
			 ERR_PEER);
	assert_int_equal(sys_passing_send(e.server, "c", 1, NULL, 0, NULL), 0);
	assert_int_equal(sys_passing_receive(e.client, got, 4, NULL, 0, NULL),
			 1);
	assert_int_equal(got[0], 'c');
	release(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_listens),
		cmocka_unit_test(test_passes),
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_blocking),
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_open_fallback),
		cmocka_unit_test(test_accepts),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_signal),
		cmocka_unit_test(test_full_queue),
		cmocka_unit_test(test_ends_input),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
