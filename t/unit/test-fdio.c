/* SPDX-License-Identifier: MIT */
/*
 * Tests of wire/fdio.c, which reads from and writes to file descriptors. They
 * prove that all bytes arrive, and that a timeout ends the process only if the
 * peer is too slow.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/clock.h"
#include "wire/fdio.h"

static void test_round_trip(void **state)
{
	for (unsigned timeout = 0; timeout <= 60; timeout += 60) {
		struct iovec iov[3] = {
			{(char *)"ab", 2}, {(char *)"", 0}, {(char *)"cde", 3}};
		struct serve_io io;
		struct fdio f;
		char bytes[16];
		int fds[2];

		assert_int_equal(pipe(fds), 0);
		f = (struct fdio){
			.in = fds[0], .out = fds[1], .timeout = timeout};
		io = fdio_io(&f);
		assert_int_equal(io.writev(io.ctx, iov, 3, NULL), 0);
		assert_int_equal(io.read(io.ctx, bytes, 4, NULL), 4);
		assert_memory_equal(bytes, "abcd", 4);
		assert_int_equal(io.read(io.ctx, bytes, 16, NULL), 1);
		close(fds[1]);
		assert_int_equal(io.read(io.ctx, bytes, 16, NULL), 0);
		close(fds[0]);
	}
}

/*
 * send_file() writes a head and then bytes of a file. The pipe is enlarged
 * first, so that both fit into the pipe.
 */
static void test_send_file(void **state)
{
	char path[] = "/tmp/gitreach-fdio-XXXXXX", bytes[70000], got[70004];
	struct sys_file_span span = {.bytes = (const uint8_t *)bytes,
				     .len = sizeof(bytes)};
	struct serve_io io;
	struct fdio f;
	size_t len = 0;
	int fds[2];

	memset(bytes, 'x', sizeof(bytes));
	span.fd = mkstemp(path);
	assert_true(span.fd >= 0);
	unlink(path);
	assert_int_equal(write(span.fd, bytes, sizeof(bytes)), sizeof(bytes));
	assert_int_equal(pipe(fds), 0);
	f = (struct fdio){.in = fds[0], .out = fds[1]};
	io = fdio_io(&f);
	assert_int_equal(io.send_file(io.ctx, "head", 4, &span, NULL), 0);
	close(fds[1]);
	for (ssize_t n = 1; n > 0; len += (size_t)n)
		n = io.read(io.ctx, got + len, sizeof(got) - len, NULL);
	assert_int_equal(len, sizeof(got));
	assert_memory_equal(got, "head", 4);
	assert_memory_equal(got + 4, bytes, sizeof(bytes));
	close(fds[0]);
	close(span.fd);
}

/*
 * If the peer is silent, the process ends when the timeout is over, and not
 * earlier.
 */
static void test_timeout(void **state)
{
	int fds[2], status;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		struct fdio f = {.in = fds[0], .out = fds[1], .timeout = 1};
		struct serve_io io = fdio_io(&f);
		char byte;

		_exit(io.read(io.ctx, &byte, 1, NULL) == 1 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGALRM);
	close(fds[0]);
	close(fds[1]);
}

/*
 * Start a child that reads its input to the end, with a timeout of one second.
 * Sets *to to a pipe to the child. Returns the child's process id.
 */
static pid_t read_all(int *to)
{
	int fds[2];
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		struct fdio f = {.in = fds[0], .out = -1, .timeout = 1};
		struct serve_io io = fdio_io(&f);
		char bytes[4096];

		close(fds[1]);
		while (io.read(io.ctx, bytes, sizeof(bytes), NULL) > 0)
			;
		_exit(0);
	}
	close(fds[0]);
	*to = fds[1];
	return pid;
}

/*
 * Assert that attempt() returns true once in up to 10 tries. One try is not
 * enough, because a busy machine may stop all processes for half a second.
 */
static void assert_mostly(bool (*attempt)(void))
{
	int left = 10;

	while (!attempt())
		assert_true(--left > 0);
}

static bool trickle(void)
{
	static const char bytes[1 << 16];
	int little, much, tried_status, served_status;
	pid_t tried = read_all(&little), served = read_all(&much);

	signal(SIGPIPE, SIG_IGN);
	for (int i = 0; i < 7; i++) {
		sys_sleep_ns(200000000);
		(void)!write(little, bytes, 1);
		(void)!write(much, bytes, sizeof(bytes));
	}
	signal(SIGPIPE, SIG_DFL);
	close(little);
	close(much);
	assert_int_equal(waitpid(tried, &tried_status, 0), tried);
	assert_int_equal(waitpid(served, &served_status, 0), served);
	return WIFSIGNALED(tried_status) && WTERMSIG(tried_status) == SIGALRM &&
	       WIFEXITED(served_status);
}

/*
 * The timeout ends a connection whose peer sends only a byte now and then. It
 * does not end a connection whose peer sends 64 KiB within the timeout.
 */
static void test_trickle(void **state)
{
	assert_mostly(trickle);
}

#define MANY (3 << 20)
#define AT_ONCE (1 << 19)

/*
 * Start a child that sends MANY bytes with a timeout of one second: by
 * writev(), or from a file if `is_file` is true. Sets *from to a pipe from the
 * child. Returns the child's process id.
 */
static pid_t send_many(int *from, bool is_file)
{
	static const char path[] = "/tmp/gitreach-fdio-XXXXXX";
	char name[sizeof(path)], *bytes = calloc(1, MANY);
	int fds[2];
	pid_t pid;

	assert_non_null(bytes);
	assert_int_equal(pipe(fds), 0);
	*from = fds[0];
	memcpy(name, path, sizeof(path));
	pid = fork();
	if (!pid) {
		struct fdio f = {.in = -1, .out = fds[1], .timeout = 1};
		struct serve_io io = fdio_io(&f);
		struct iovec iov = {bytes, MANY};
		struct sys_file_span span = {.bytes = (uint8_t *)bytes,
					     .len = MANY};

		close(fds[0]);
		if (!is_file)
			_exit(io.writev(io.ctx, &iov, 1, NULL) != 0);
		span.fd = mkstemp(name);
		unlink(name);
		if (ftruncate(span.fd, MANY) < 0)
			_exit(1);
		_exit(io.send_file(io.ctx, "", 0, &span, NULL) != 0);
	}
	close(fds[1]);
	free(bytes);
	return pid;
}

static size_t take(int from, size_t len)
{
	static const size_t buf_len = 1 << 16;
	char buf[1 << 16];
	size_t got = 0;
	ssize_t n = 1;

	while (got < len && n > 0) {
		n = read(from, buf, len - got < buf_len ? len - got : buf_len);
		got += n > 0 ? (size_t)n : 0;
	}
	return got;
}

static bool read_slowly(void)
{
	bool is_well = true;
	int from[2], status;
	size_t got[2] = {0, 0};
	pid_t pid[2];

	for (int i = 0; i < 2; i++)
		pid[i] = send_many(&from[i], i);
	for (int round = 0; round < MANY / AT_ONCE; round++) {
		for (int i = 0; i < 2; i++)
			got[i] += take(from[i], AT_ONCE);
		if (round < 3)
			usleep(400000);
	}
	for (int i = 0; i < 2; i++) {
		assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
		is_well = is_well && got[i] == MANY && WIFEXITED(status) &&
			  !WEXITSTATUS(status);
		close(from[i]);
	}
	return is_well;
}

/* A peer that reads slowly, but never stops reading, gets all bytes. */
static void test_slow_reader(void **state)
{
	assert_mostly(read_slowly);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_send_file),
		cmocka_unit_test(test_timeout),
		cmocka_unit_test(test_trickle),
		cmocka_unit_test(test_slow_reader),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
