/* SPDX-License-Identifier: MIT */
/*
 * Tests of sys/tcp.c, TCP connections over the loopback interface: bytes are
 * read and written, and time limits and closed connections are noticed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <fcntl.h>
#include <string.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <unistd.h>

#include <fcntl.h>

#include <cmocka.h>

#include "sys/clock.h"
#include "sys/event.h"
#include "sys/io.h"
#include "sys/tcp.h"

/* The two sockets of a connection. */
struct pair {
	int listener, client, server;
	char address[SYS_ADDRESS_MAX];
};

static int open_pair(void **state)
{
	struct pair *p = calloc(1, sizeof(*p));
	struct sockaddr_in a = {.sin_family = AF_INET};

	p->listener = sys_socket_listen("127.0.0.1", 0, NULL);
	assert_true(p->listener >= 0);
	assert_int_equal(sys_socket_accept(p->listener, p->address, NULL),
			 ERR_MISSING);
	a.sin_port = htons(sys_socket_port(p->listener));
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	p->client = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(p->client, (void *)&a, sizeof(a)), 0);
	p->server = sys_socket_accept(p->listener, p->address, NULL);
	assert_true(p->server >= 0);
	assert_string_equal(p->address, "127.0.0.1");
	*state = p;
	return 0;
}

static int close_pair(void **state)
{
	struct pair *p = *state;

	sys_close(p->listener);
	sys_close(p->client);
	sys_close(p->server);
	free(p);
	return 0;
}

static void test_listen(void **state)
{
	struct pair *p = *state;
	struct error err = ERROR_INIT;

	assert_int_equal(sys_socket_listen("localhost", 0, &err), ERR_INVALID);
	assert_int_equal(sys_socket_listen("127.0.0.1",
					   sys_socket_port(p->listener), &err),
			 ERR_IO);
	assert_non_null(strstr(err.msg, "cannot listen on 127.0.0.1 port"));
}

static void test_read(void **state)
{
	struct pair *p = *state;
	struct sys_patience patience = {.limit_ms = 50};
	struct error err = ERROR_INIT;
	uint64_t start = sys_clock_ns();
	char bytes[8];

	assert_int_equal(sys_socket_try_read(p->server, bytes, 8), 0);
	assert_int_equal(sys_socket_read(p->server, bytes, 8, &patience, &err),
			 ERR_PEER);
	assert_string_equal(err.msg, "the client is too slow");
	assert_true(sys_clock_ns() - start >= 49000000);
	assert_int_equal(write(p->client, "abc", 3), 3);
	assert_int_equal(sys_socket_read(p->server, bytes, 8, &patience, NULL),
			 3);
	sys_socket_end_output(p->client);
	assert_int_equal(sys_socket_read(p->server, bytes, 8, &patience, NULL),
			 0);
	assert_int_equal(sys_socket_try_read(p->server, bytes, 8), ERR_PEER);
}

/*
 * Writes more pieces than one system call takes. Some of the pieces are empty.
 * The client must get all bytes in order.
 */
static void test_write(void **state)
{
	struct pair *p = *state;
	struct sys_patience patience = {.limit_ms = 5000};
	struct iovec iov[1500];
	char bytes[2000];
	size_t got = 0;

	for (size_t i = 0; i < 1500; i++)
		iov[i] = (struct iovec){(char *)"ab", i % 3};
	assert_int_equal(
		sys_socket_writev(p->server, iov, 1500, &patience, NULL), 0);
	iov[0] = (struct iovec){(char *)"e", 1};
	iov[1] = (struct iovec){(char *)"nd", 2};
	assert_int_equal(sys_socket_try_writev(p->server, iov, 2), 3);
	while (got < 1503) {
		ssize_t n = read(p->client, bytes + got, sizeof(bytes) - got);

		assert_true(n > 0);
		got += (size_t)n;
	}
	assert_memory_equal(bytes, "aabaab", 6);
	assert_memory_equal(bytes + 1497, "aabend", 6);
}

/*
 * Writing must fail if the peer does not read within the time limit, and if the
 * peer has closed the connection.
 */
static void test_write_fails(void **state)
{
	struct pair *p = *state;
	struct sys_patience patience = {.limit_ms = 50};
	struct error err = ERROR_INIT;
	size_t len = (size_t)64 << 20;
	char *bytes = calloc(len, 1);
	struct iovec iov = {bytes, len};

	assert_int_equal(sys_socket_writev(p->server, &iov, 1, &patience, &err),
			 ERR_PEER);
	assert_string_equal(err.msg, "the client is too slow");
	sys_close(p->client);
	p->client = -1;
	iov = (struct iovec){bytes, len};
	assert_int_equal(sys_socket_writev(p->server, &iov, 1, &patience, &err),
			 ERR_PEER);
	free(bytes);
}

static void test_adopt(void **state)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char address[SYS_ADDRESS_MAX];

	assert_int_equal(sys_socket_adopt(fd, NULL), ERR_INVALID);
	assert_int_equal(sys_socket_adopt(-1, NULL), ERR_INVALID);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(sys_socket_adopt(fd, NULL), 0);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	/* If no client connects, sys_socket_accept() returns immediately. */
	assert_int_equal(sys_socket_accept(fd, address, NULL), ERR_MISSING);
	sys_close(fd);
}

static void test_addresses(void **state)
{
	assert_true(sys_address_is_valid("127.0.0.1"));
	assert_true(sys_address_is_valid("::1"));
	assert_false(sys_address_is_valid("localhost"));
	assert_false(sys_address_is_valid(""));
}

/* A pipe is read and written like a socket. */
static void test_pipes(void **state)
{
	struct sys_patience patience = {.limit_ms = 100};
	char text[] = "abc";
	struct iovec iov[2] = {{text, 2}, {text + 2, 1}};
	char got[8];
	int ends[2];

	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	assert_int_equal(sys_socket_read(ends[0], got, 8, &patience, NULL),
			 ERR_PEER);
	assert_int_equal(sys_socket_writev(ends[1], iov, 2, &patience, NULL),
			 0);
	assert_int_equal(sys_socket_read(ends[0], got, 8, &patience, NULL), 3);
	assert_memory_equal(got, "abc", 3);
	sys_write_ready(ends[1], "d", 1, 0);
	close(ends[1]);
	assert_int_equal(sys_socket_read(ends[0], got, 8, &patience, NULL), 1);
	assert_int_equal(sys_socket_read(ends[0], got, 8, &patience, NULL), 0);
	close(ends[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pipes),
		cmocka_unit_test_setup_teardown(test_listen, open_pair,
						close_pair),
		cmocka_unit_test_setup_teardown(test_read, open_pair,
						close_pair),
		cmocka_unit_test_setup_teardown(test_write, open_pair,
						close_pair),
		cmocka_unit_test_setup_teardown(test_write_fails, open_pair,
						close_pair),
		cmocka_unit_test(test_adopt),
		cmocka_unit_test(test_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
