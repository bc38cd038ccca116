/* SPDX-License-Identifier: MIT */
/*
 * Tests of sys/trace-file.c, which opens the target of a trace: a file, a
 * descriptor or a socket. The tests prove which target each value of a trace
 * variable (such as GIT_TRACE2) opens. After the target was opened, errors of
 * writing to it are ignored.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "sys/io.h"
#include "sys/trace.h"

static char dir[] = "/tmp/gitreach-trace-XXXXXX";
static const struct trace_file_dir own = {"name", 0};
static const struct trace_file_dir none = {NULL, 0};

static const char *in_dir(char *out, const char *name)
{
	snprintf(out, 256, "%s/%s", dir, name);
	return out;
}

static void check_content(const char *path, const char *expected)
{
	struct buf text = BUF_INIT;

	assert_int_equal(sys_read_any(&text, path, NULL), 0);
	assert_string_equal(text.data, expected);
	buf_release(&text);
}

static void test_values(void **state)
{
	static const struct {
		const char *value;
		int ret, fd;
	} samples[] = {
		{NULL, 0, -1},
		{"", 0, -1},
		{"0", 0, -1},
		{"FALSE", 0, -1},
		{"1", 1, 2},
		{"True", 1, 2},
		{"2", 1, 2},
		{"9", 1, 9},
		{"10", ERR_INVALID, -1},
		{"x", ERR_INVALID, -1},
		{"./x", ERR_INVALID, -1},
		{"af_unix:x", ERR_INVALID, -1},
		{"/nonexistent/x", ERR_IO, -1},
		{"af_unix:/nonexistent/x", ERR_IO, -1},
	};

	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
		struct trace_file f;

		assert_int_equal(
			trace_file_open(&f, samples[i].value, &own, NULL),
			samples[i].ret);
		assert_int_equal(f.fd, samples[i].fd);
		trace_file_append(&(struct trace_file)TRACE_FILE_INIT, "x", 1);
		assert_false(f.is_owned);
		trace_file_close(&f);
	}
}

/* Two writers append to one file. The lines of both must be in it. */
static void test_append(void **state)
{
	struct trace_file a, b;
	char path[256];

	in_dir(path, "both");
	assert_int_equal(trace_file_open(&a, path, &own, NULL), 1);
	assert_int_equal(trace_file_open(&b, path, &own, NULL), 1);
	trace_file_append(&a, "one\n", 4);
	trace_file_append(&b, "two\n", 4);
	trace_file_append(&a, "three\n", 6);
	trace_file_close(&a);
	trace_file_close(&b);
	check_content(path, "one\ntwo\nthree\n");
}

static void test_directory(void **state)
{
	struct trace_file_dir limited = {"other", 4};
	char in[256], path[300];
	struct trace_file f;
	int ret;

	in_dir(in, "dir");
	assert_int_equal(sys_mkdir_p(in, NULL), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(trace_file_open(&f, in, &own, NULL), 1);
		trace_file_append(&f, "x", 1);
		trace_file_close(&f);
	}
	snprintf(path, sizeof(path), "%s/name", in);
	check_content(path, "x");
	snprintf(path, sizeof(path), "%s/name.2", in);
	check_content(path, "x");
	/*
	 * The directory has three files, and the limit is four. The first call
	 * creates the fourth file. The second call creates the marker file. The
	 * third call creates nothing.
	 */
	for (int i = 0; i < 3; i++) {
		ret = trace_file_open(&f, in, &limited, NULL);
		assert_int_equal(ret, i == 0 ? 1 : i == 1 ? 2 : 0);
		trace_file_append(&f, "y", 1);
		trace_file_close(&f);
	}
	snprintf(path, sizeof(path), "%s/" TRACE_FILE_DISCARD, in);
	check_content(path, "y");
	/*
	 * A directory is a valid target only if the caller gives a file name.
	 */
	assert_int_equal(trace_file_open(&f, in, &none, NULL), ERR_IO);
}

static void check_socket(int type, const char *prefix, int expected)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, type, 0), peer;
	char value[300], bytes[8];
	struct trace_file f;

	in_dir(at.sun_path, "s");
	unlink(at.sun_path);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	if (type == SOCK_STREAM)
		assert_int_equal(listen(fd, 1), 0);
	snprintf(value, sizeof(value), "af_unix:%s%s", prefix, at.sun_path);
	assert_int_equal(trace_file_open(&f, value, &own, NULL), expected);
	if (expected == 1) {
		trace_file_append(&f, "line\n", 5);
		peer = type == SOCK_STREAM ? accept(fd, NULL, NULL) : dup(fd);
		assert_int_equal(read(peer, bytes, sizeof(bytes)), 5);
		assert_memory_equal(bytes, "line\n", 5);
		close(peer);
	}
	trace_file_close(&f);
	close(fd);
}

static void test_sockets(void **state)
{
	check_socket(SOCK_STREAM, "", 1);
	check_socket(SOCK_DGRAM, "", 1);
	check_socket(SOCK_STREAM, "stream:", 1);
	check_socket(SOCK_DGRAM, "dgram:", 1);
	check_socket(SOCK_DGRAM, "stream:", ERR_IO);
	check_socket(SOCK_STREAM, "dgram:", ERR_IO);
}

/* The reader has closed the pipe. Writing must not end the test by SIGPIPE. */
static void test_reader_gone(void **state)
{
	struct trace_file f = TRACE_FILE_INIT;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	close(fds[0]);
	f.fd = fds[1];
	trace_file_append(&f, "x", 1);
	trace_file_append(&f, "x", 1);
	close(fds[1]);
	/* The disk is full. The error is ignored. */
	f.fd = open("/dev/full", O_WRONLY);
	trace_file_append(&f, "x", 1);
	close(f.fd);
}

static int setup(void **state)
{
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[300];

	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_append),
		cmocka_unit_test(test_directory),
		cmocka_unit_test(test_sockets),
		cmocka_unit_test(test_reader_gone),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
