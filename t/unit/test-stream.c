/* SPDX-License-Identifier: MIT */
/*
 * Tests of daemon/stream.c, the bytes between a connection and its socket:
 * bytes are read and written, and a full or closed connection is reported.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/stream.h"

struct pair {
	struct daemon_stream stream;
	int peer;
};

static int setup(void **state)
{
	struct pair *p = calloc(1, sizeof(*p));
	int fds[2];

	*state = p;
	if (!p || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) < 0)
		return -1;
	daemon_stream_init(&p->stream, fds[0]);
	p->peer = fds[1];
	return 0;
}

static int teardown(void **state)
{
	struct pair *p = *state;

	daemon_stream_release(&p->stream);
	close(p->peer);
	free(p);
	return 0;
}

static void test_read(void **state)
{
	struct pair *p = *state;
	struct sys_patience patience = {.limit_ms = 5000};
	char bytes[8];

	assert_int_equal(daemon_stream_try_read(&p->stream, bytes, 8), 0);
	assert_int_equal(write(p->peer, "abcdef", 6), 6);
	assert_int_equal(daemon_stream_try_read(&p->stream, bytes, 4), 4);
	assert_int_equal(
		daemon_stream_read(&p->stream, bytes, 8, &patience, NULL), 2);
	assert_memory_equal(bytes, "efcd", 4);
	shutdown(p->peer, SHUT_WR);
	assert_int_equal(
		daemon_stream_read(&p->stream, bytes, 8, &patience, NULL), 0);
	assert_int_equal(daemon_stream_try_read(&p->stream, bytes, 8),
			 ERR_PEER);
}

static void test_write(void **state)
{
	struct pair *p = *state;
	struct iovec iov[] = {{(char *)"ab", 2}, {(char *)"c", 1}};
	char bytes[8];

	assert_int_equal(daemon_stream_try_writev(&p->stream, iov, 2), 3);
	daemon_stream_end_output(&p->stream);
	assert_int_equal(read(p->peer, bytes, 8), 3);
	assert_memory_equal(bytes, "abc", 3);
	assert_int_equal(read(p->peer, bytes, 8), 0);
}

/*
 * If the peer does not read, writing without waiting returns 0. After the peer
 * has closed the connection, writing fails.
 */
static void test_full(void **state)
{
	struct pair *p = *state;
	static char bytes[65536];
	struct iovec iov = {bytes, sizeof(bytes)};
	ssize_t n;

	do {
		n = daemon_stream_try_writev(&p->stream, &iov, 1);
	} while (n > 0);
	assert_int_equal(n, 0);
	shutdown(p->peer, SHUT_RDWR);
	assert_int_equal(daemon_stream_try_writev(&p->stream, &iov, 1),
			 ERR_PEER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_read, setup, teardown),
		cmocka_unit_test_setup_teardown(test_write, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
