/* SPDX-License-Identifier: MIT */
/*
 * Tests of sys/append-line.c: the log has the lines of both writers, and a line
 * that does not fit into the file does not damage the next one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sys/append-line.h"
#include "sys/io.h"

static void append(int fd, const char *line)
{
	sys_append_line(fd, line, strlen(line));
}

/* The size of a file is limited to 13 bytes, as if the disk was full. */
static void part_becomes_blank(void **state)
{
	char path[] = "/tmp/gitreach-line-XXXXXX";
	int a = mkstemp(path), b;
	struct rlimit before, full;
	struct buf text = BUF_INIT;

	assert_true(a >= 0);
	close(a);
	a = open(path, O_WRONLY | O_APPEND);
	b = open(path, O_WRONLY | O_APPEND);
	append(a, "one\n");
	append(b, "two\n");
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	full = (struct rlimit){13, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &full), 0);
	append(a, "three four\n");
	append(b, "five\n");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_DFL);
	append(b, "six\n");
	append(a, "seven\n");
	close(a);
	close(b);
	assert_int_equal(sys_read_any(&text, path, NULL), 0);
	assert_string_equal(text.data, "one\ntwo\n    \nsix\nseven\n");
	buf_release(&text);
	unlink(path);
}

/* Read end of a pipe, which the handler of SIGALRM reads until it is empty. */
#define PIPE_FD 200

static void read_pipe(int signal_nr)
{
	char bytes[4096];
	bool is_empty = true;

	while (read(PIPE_FD, bytes, sizeof(bytes)) > 0)
		is_empty = false;
	if (is_empty)
		alarm(1);
}

/*
 * A signal ends a write() to a full pipe when only a part of the line is
 * written. This part cannot be removed from the pipe, so sys_append_line() ends
 * it with LF.
 */
static void part_of_pipe_ends(void **state)
{
	const struct sigaction act = {.sa_handler = read_pipe};
	const size_t len = 1000000;
	char *line = malloc(len), rest[8] = "";
	int fds[2];

	assert_non_null(line);
	memset(line, 'x', len);
	line[len - 1] = '\n';
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(dup2(fds[0], PIPE_FD), PIPE_FD);
	assert_int_equal(sigaction(SIGALRM, &act, NULL), 0);
	alarm(1);
	sys_append_line(fds[1], line, len);
	signal(SIGALRM, SIG_DFL);
	assert_int_equal(read(PIPE_FD, rest, sizeof(rest)), 1);
	assert_string_equal(rest, "\n");
	close(PIPE_FD);
	close(fds[0]);
	close(fds[1]);
	free(line);
}

/* A log that is a pipe without a reader causes no signal. */
static void reader_is_gone(void **state)
{
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	append(fds[1], "one\n");
	close(fds[0]);
	append(fds[1], "two\n");
	close(fds[1]);
	append(-1, "three\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(part_becomes_blank),
		cmocka_unit_test(part_of_pipe_ends),
		cmocka_unit_test(reader_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
