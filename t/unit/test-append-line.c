/* SPDX-License-Identifier: MIT */
/*
 * Tests of sys/append-line.c: lines of two writers are in the log, and a line
 * that does not fit into the file does not damage the next one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
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
		cmocka_unit_test(reader_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
