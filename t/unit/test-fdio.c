/* SPDX-License-Identifier: MIT */
/* Connections over descriptors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "serve/fdio.h"

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
		f = (struct fdio){fds[0], fds[1], timeout};
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

/* A peer that says nothing ends the process, and only then. */
static void test_timeout(void **state)
{
	int fds[2], status;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		struct fdio f = {fds[0], fds[1], 1};
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_timeout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
