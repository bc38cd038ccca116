/* SPDX-License-Identifier: MIT */
/*
 * Tests of sys/io.c, which reads and writes descriptors, directories and file
 * attributes, and returns random bytes. They prove that writes are complete
 * even through small or non-blocking pipes, and that random bytes differ from
 * call to call.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/io.h"

#define BIG (1 << 20)

static char dir[] = "/tmp/gitreach-io-XXXXXX";

static const char *in_dir(char *out, const char *name)
{
	snprintf(out, 256, "%s/%s", dir, name);
	return out;
}

/* Reads everything from a pipe. Computes the sum of the bytes. */
static void *drain(void *arg)
{
	int fd = *(int *)arg;
	uint64_t *sum = calloc(1, sizeof(*sum));
	uint8_t bytes[1000];
	ssize_t n;

	while ((n = sys_read_some(fd, bytes, sizeof(bytes), "pipe", NULL)) > 0)
		for (ssize_t i = 0; i < n; i++)
			*sum = *sum * 31 + bytes[i];
	close(fd);
	return sum;
}

static uint64_t sum_of(const uint8_t *bytes, size_t len)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < len; i++)
		sum = sum * 31 + bytes[i];
	return sum;
}

/*
 * Writes BIG bytes to a pipe with one call, as `spans` separate pieces of
 * memory. If `nonblocking` is true, the pipe is non-blocking.
 */
static void write_big(size_t spans, bool nonblocking)
{
	uint8_t *bytes = malloc(BIG);
	struct iovec *iov = calloc(spans, sizeof(*iov));
	size_t span_len = BIG / spans;
	void *sum;
	pthread_t reader;
	int fds[2];

	assert_non_null(bytes);
	assert_non_null(iov);
	for (size_t i = 0; i < BIG; i++)
		bytes[i] = (uint8_t)(i * 7 + i / 256);
	assert_int_equal(pipe(fds), 0);
	if (nonblocking)
		fcntl(fds[1], F_SETFL, O_NONBLOCK);
	pthread_create(&reader, NULL, drain, &fds[0]);
	if (spans == 1) {
		assert_int_equal(
			sys_write_all(fds[1], bytes, BIG, "pipe", NULL), 0);
	} else {
		for (size_t i = 0; i < spans; i++)
			iov[i] = (struct iovec){bytes + i * span_len, span_len};
		assert_int_equal(
			sys_writev_all(fds[1], iov, spans, "pipe", NULL), 0);
	}
	close(fds[1]);
	pthread_join(reader, &sum);
	assert_true(*(uint64_t *)sum == sum_of(bytes, spans * span_len));
	free(sum);
	free(iov);
	free(bytes);
}

static void writes_everything(void **state)
{
	write_big(1, false);
	write_big(1, true);
	write_big(7, false);
	write_big(4096, true);
}

/*
 * Sends the range [off, off + len) of the file `fd` to a pipe. The file has the
 * content `bytes`. If `fd` is -1, sends the range of `bytes` from memory. If
 * `nonblocking` is true, the pipe is non-blocking.
 */
static void send_big(int fd, const uint8_t *bytes, uint64_t off, size_t len,
		     bool nonblocking)
{
	const struct sys_file_span span = {bytes + off, len, fd, off};
	pthread_t reader;
	void *sum;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	if (nonblocking)
		fcntl(fds[1], F_SETFL, O_NONBLOCK);
	sys_pipe_widen(fds[1], 1 << 20);
	sys_pipe_widen(fd, 1 << 20);
	pthread_create(&reader, NULL, drain, &fds[0]);
	assert_int_equal(sys_send_file(fds[1], &span, "pipe", NULL), 0);
	close(fds[1]);
	pthread_join(reader, &sum);
	assert_true(*(uint64_t *)sum == sum_of(bytes + off, len));
	free(sum);
}

static void sends_files(void **state)
{
	char path[256];
	uint8_t *bytes = malloc(BIG);
	int fd = open(in_dir(path, "sent"), O_RDWR | O_CREAT, 0600);

	assert_non_null(bytes);
	assert_true(fd >= 0);
	for (size_t i = 0; i < BIG; i++)
		bytes[i] = (uint8_t)(i * 11 + i / 255);
	assert_int_equal(sys_write_all(fd, bytes, BIG, path, NULL), 0);
	send_big(fd, bytes, 0, BIG, false);
	send_big(fd, bytes, 4321, BIG - 5000, true);
	send_big(-1, bytes, 7, 100000, false);
	assert_int_equal(ftruncate(fd, 5000), 0);
	send_big(fd, bytes, 100, 100000, true);
	close(fd);
	free(bytes);
}

static void empty_spans_are_no_trouble(void **state)
{
	struct iovec iov[3] = {{(char *)"", 0}, {(char *)"ab", 2}, {NULL, 0}};
	char got[3] = "";
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(sys_writev_all(fds[1], iov, 3, "pipe", NULL), 0);
	assert_int_equal(sys_writev_all(fds[1], iov, 0, "pipe", NULL), 0);
	close(fds[1]);
	assert_int_equal(sys_read_some(fds[0], got, 2, "pipe", NULL), 2);
	assert_string_equal(got, "ab");
	assert_int_equal(sys_read_some(fds[0], got, 2, "pipe", NULL), 0);
	close(fds[0]);
}

static void a_peer_that_left_is_told_apart(void **state)
{
	struct error err = ERROR_INIT;
	int fds[2];

	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(fds), 0);
	close(fds[0]);
	assert_int_equal(sys_write_all(fds[1], "x", 1, "the client", &err),
			 ERR_PEER);
	assert_int_equal(err.code, ERR_PEER);
	assert_non_null(strstr(err.msg, "the client"));
	close(fds[1]);
	assert_int_equal(sys_write_all(-1, "x", 1, "nothing", &err), ERR_IO);
}

static void disk_space(void **state)
{
	struct error err = ERROR_INIT;
	uint64_t total = 0, available = 0;

	assert_int_equal(sys_disk_space(&total, &available, "/", &err), 0);
	assert_true(total > 0 && available <= total);
	assert_int_equal(
		sys_disk_space(&total, &available, "/nowhere/at/all", &err),
		ERR_IO);
	assert_int_equal(err.sys_errno, ENOENT);
}

static void writes_at_an_offset(void **state)
{
	char path[] = "/tmp/test-io-XXXXXX", bytes[6];
	struct error err = ERROR_INIT;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(sys_write_at(fd, "end", 3, 3, "it", NULL), 0);
	assert_int_equal(sys_write_at(fd, "the", 3, 0, "it", NULL), 0);
	assert_int_equal(sys_read_at(fd, bytes, 6, 0, "it", NULL), 0);
	assert_memory_equal(bytes, "theend", 6);
	close(fd);
	unlink(path);
	assert_int_equal(sys_write_at(-1, "x", 1, 0, "it", &err), ERR_IO);
}

static void facts_about_files(void **state)
{
	char path[256];
	struct sys_stat st;
	struct error err = ERROR_INIT;
	FILE *f = fopen(in_dir(path, "file"), "w");

	assert_non_null(f);
	fputs("12345", f);
	fclose(f);
	assert_int_equal(sys_stat(&st, path, &err), 0);
	assert_true(st.is_file && !st.is_dir);
	assert_int_equal(st.size, 5);
	assert_int_equal(st.uid, getuid());
	assert_true(st.mtime_ns > INT64_C(1000000000) * 1000000000);
	assert_int_equal(sys_stat(&st, dir, &err), 0);
	assert_true(st.is_dir && !st.is_file);
	assert_true(sys_exists(path));
	assert_int_equal(sys_unlink(path, &err), 0);
	assert_int_equal(sys_unlink(path, &err), 0);
	assert_false(sys_exists(path));
	assert_int_equal(sys_stat(&st, path, &err), ERR_MISSING);
	assert_int_equal(sys_stat(&st, in_dir(path, "file/below"), &err),
			 ERR_MISSING);
	assert_int_equal(sys_unlink(dir, &err), ERR_IO);
}

static int count_name(void *ctx, const char *name)
{
	int *seen = ctx;

	assert_true(strcmp(name, ".") && strcmp(name, ".."));
	if (!strcmp(name, "stop"))
		return 17;
	(*seen)++;
	return 0;
}

static void bytes_at_an_offset(void **state)
{
	char path[256], got[4] = "";
	struct error err = ERROR_INIT;
	uint64_t len;
	FILE *f = fopen(in_dir(path, "read-at"), "w");
	int fd;

	assert_non_null(f);
	fputs("0123456789", f);
	fclose(f);
	fd = sys_open_read(path, &len, &err);
	assert_true(fd >= 0);
	assert_int_equal(len, 10);
	assert_int_equal(sys_read_at(fd, got, 3, 7, "it", &err), 0);
	assert_string_equal(got, "789");
	assert_int_equal(sys_read_at(fd, got, 3, 8, "it", &err), ERR_IO);
	assert_string_equal(err.msg, "it is too short");
	sys_close(fd);
	sys_close(-1);
	assert_int_equal(sys_read_at(-1, got, 3, 0, "it", &err), ERR_IO);
	assert_int_equal(sys_open_read(in_dir(path, "no"), &len, &err),
			 ERR_MISSING);
	assert_int_equal(err.code, ERR_MISSING);
}

static void directories(void **state)
{
	char path[256], sub[256];
	struct error err = ERROR_INIT;
	int seen = 0;
	char *real;

	assert_int_equal(sys_mkdir_p(in_dir(path, "a/b/c"), &err), 0);
	assert_int_equal(sys_mkdir_p(path, &err), 0);
	assert_int_equal(sys_mkdir_p(in_dir(path, "a/d"), &err), 0);
	assert_int_equal(
		sys_dir_each(in_dir(path, "a"), count_name, &seen, &err), 0);
	assert_int_equal(seen, 2);
	assert_int_equal(
		sys_dir_each(in_dir(path, "no"), count_name, &seen, &err),
		ERR_MISSING);
	assert_int_equal(err.code, ERR_MISSING);
	assert_int_equal(sys_mkdir_p(in_dir(path, "s/stop"), &err), 0);
	assert_int_equal(
		sys_dir_each(in_dir(path, "s"), count_name, &seen, &err), 17);
	real = sys_realpath(in_dir(path, "a/../a/b"), &err);
	assert_string_equal(real, in_dir(sub, "a/b"));
	free(real);
	assert_null(sys_realpath(in_dir(path, "no"), &err));
	real = sys_realpath_missing(in_dir(path, "a/../no/nor"), &err);
	assert_string_equal(real, in_dir(path, "no/nor"));
	free(real);
	assert_null(sys_realpath_missing(in_dir(path, "no/.."), &err));
	real = sys_realpath_missing("/nowhere/at", &err);
	assert_string_equal(real, "/nowhere/at");
	free(real);
}

static void new_links(void **state)
{
	char path[256], second[256];
	struct error err = ERROR_INIT;

	in_dir(path, "one");
	in_dir(second, "two");
	assert_int_equal(sys_append(path, "1", 1, 0644, NULL), 0);
	assert_int_equal(sys_link_new(path, second, NULL), 0);
	assert_true(sys_exists(second));
	assert_int_equal(sys_link_new(path, second, NULL), 1);
	assert_int_equal(sys_link_new(second, in_dir(path, "no/dir"), &err),
			 ERR_IO);
	assert_int_equal(err.sys_errno, ENOENT);
}

static void links(void **state)
{
	char path[256], target[256];
	struct sys_stat st;
	struct buf out = BUF_INIT;

	assert_int_equal(sys_symlink("nowhere", in_dir(path, "link"), NULL), 0);
	assert_int_equal(sys_symlink("x", path, NULL), ERR_IO);
	assert_int_equal(sys_stat(&st, path, NULL), ERR_MISSING);
	assert_int_equal(sys_lstat(&st, path, NULL), 0);
	assert_true(st.is_link);
	assert_int_equal(st.uid, sys_euid());
	assert_int_equal(sys_readlink(&out, path, NULL), 0);
	assert_string_equal(out.data, "nowhere");
	assert_int_equal(sys_readlink(&out, dir, NULL), ERR_IO);

	/*
	 * The target of the symbolic link is longer than the buffer with which
	 * sys_readlink() begins.
	 */
	memset(target, 'x', sizeof(target));
	target[sizeof(target) - 1] = '\0';
	buf_reset(&out);
	buf_printf(&out, "%s/%s/%s", target, target, target);
	assert_int_equal(sys_symlink(out.data, in_dir(path, "long"), NULL), 0);
	buf_reset(&out);
	assert_int_equal(sys_readlink(&out, path, NULL), 0);
	assert_int_equal(out.len, 3 * (sizeof(target) - 1) + 2);
	buf_release(&out);
}

static void reads_what_is_no_file(void **state)
{
	struct buf out = BUF_INIT;
	struct error err = ERROR_INIT;
	char path[256], text[10000];
	FILE *f = fopen(in_dir(path, "text"), "w");

	assert_int_equal(sys_read_any(&out, "/dev/null", NULL), 0);
	assert_int_equal(out.len, 0);
	assert_int_equal(sys_read_any(&out, dir, &err), ERR_IO);
	assert_int_equal(err.sys_errno, EISDIR);
	assert_int_equal(sys_read_any(&out, in_dir(path, "none"), NULL),
			 ERR_MISSING);
	memset(text, 'x', sizeof(text));
	assert_int_equal(fwrite(text, 1, sizeof(text), f), sizeof(text));
	fclose(f);
	assert_int_equal(sys_read_any(&out, in_dir(path, "text"), NULL), 0);
	assert_int_equal(out.len, sizeof(text));
	buf_release(&out);
}

static void directories_need_room(void **state)
{
	char path[256];
	struct error err = ERROR_INIT;
	FILE *f = fopen(in_dir(path, "plain"), "w");

	assert_non_null(f);
	fclose(f);
	assert_int_equal(sys_mkdir_p(path, &err), ERR_IO);
	assert_non_null(strstr(err.msg, "plain"));
	assert_int_equal(sys_mkdir_p(in_dir(path, "plain/below"), &err),
			 ERR_IO);
	assert_int_equal(sys_mkdir_p("", &err), 0);
	assert_int_equal(sys_mkdir_p(in_dir(path, "e//f/"), &err), 0);
	assert_true(sys_exists(in_dir(path, "e/f")));
}

/*
 * The tested code must block SIGPIPE while it writes. This thread does not
 * block SIGPIPE, so the signal would otherwise end the test.
 */
static void no_sigpipe_comes(void **state)
{
	sigset_t outer, inner, now;
	int fds[2];

	signal(SIGPIPE, SIG_DFL);
	assert_int_equal(pipe(fds), 0);
	close(fds[0]);
	sys_sigpipe_block(&outer);
	sys_sigpipe_block(&inner);
	assert_int_equal(sys_write_all(fds[1], "x", 1, "pipe", NULL), ERR_PEER);
	sys_sigpipe_restore(&inner);
	assert_int_equal(sys_write_all(fds[1], "x", 1, "pipe", NULL), ERR_PEER);
	errno = EPIPE;
	sys_sigpipe_restore(&outer);
	assert_int_equal(errno, EPIPE);
	pthread_sigmask(SIG_BLOCK, NULL, &now);
	assert_int_equal(sigismember(&now, SIGPIPE), 0);
	close(fds[1]);
}

static int make_dir(void **state)
{
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command);
}

static void test_secret(void **state)
{
	unsigned char a[256], b[256];

	assert_int_equal(sys_secret(a, sizeof(a), NULL), 0);
	assert_int_equal(sys_secret(b, sizeof(b), NULL), 0);
	assert_memory_not_equal(a, b, sizeof(a));
}

static void parents(void **state)
{
	static const char *const cases[][2] = {
		{"x", "."},    {"x/", "."},    {"", "."},        {"/", "/"},
		{"/x", "/"},   {"//x", "/"},   {"a/x", "a"},     {"a/x//", "a"},
		{"a//x", "a"}, {"/a/x", "/a"}, {"a/b/x", "a/b"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *parent = sys_parent(cases[i][0]);

		assert_string_equal(parent, cases[i][1]);
		free(parent);
	}
}

static void check_target(const char *path, const char *expected)
{
	char *target;

	assert_int_equal(sys_follow_links(&target, path, NULL), 0);
	assert_string_equal(target, expected);
	free(target);
}

static void followed_links(void **state)
{
	char path[256], target[256];
	struct error err = ERROR_INIT;
	char *none;

	(void)state;
	assert_int_equal(sys_mkdir_p(in_dir(path, "f/sub"), NULL), 0);
	check_target(in_dir(path, "f/none"), in_dir(target, "f/none"));
	check_target("none", "none");
	/* a relative link, a link to it, and an absolute link to the latter */
	assert_int_equal(sys_symlink("../file", in_dir(path, "f/sub/a"), NULL),
			 0);
	check_target(path, in_dir(target, "f/sub/../file"));
	assert_int_equal(sys_symlink("sub/a", in_dir(path, "f/b"), NULL), 0);
	check_target(path, target);
	assert_int_equal(
		sys_symlink(in_dir(target, "f/b"), in_dir(path, "f/c"), NULL),
		0);
	check_target(path, in_dir(target, "f/sub/../file"));
	/* a loop */
	assert_int_equal(sys_symlink("y", in_dir(path, "f/x"), NULL), 0);
	assert_int_equal(sys_symlink("x", in_dir(path, "f/y"), NULL), 0);
	assert_int_equal(sys_follow_links(&none, path, &err), ERR_IO);
	assert_int_equal(err.sys_errno, ELOOP);
	assert_null(none);
}

static bool exists(const char *path)
{
	struct stat s;

	return !lstat(path, &s);
}

/*
 * Nested directories without a file are removed. Directories outside, to which
 * a symbolic link leads, stay.
 */
static void empty_directories(void **state)
{
	char path[256], outside[256];

	(void)state;
	assert_int_equal(sys_mkdir_p(in_dir(path, "e/a/b"), NULL), 0);
	assert_int_equal(sys_mkdir_p(in_dir(path, "e/c"), NULL), 0);
	assert_int_equal(sys_rmdir_empty(in_dir(path, "e"), NULL), 1);
	assert_false(exists(path));
	assert_int_equal(sys_rmdir_empty(path, NULL), 1);
	assert_int_equal(sys_mkdir_p(in_dir(outside, "outside/a"), NULL), 0);
	assert_int_equal(sys_mkdir_p(in_dir(path, "e"), NULL), 0);
	assert_int_equal(
		sys_symlink("../outside", in_dir(path, "e/link"), NULL), 0);
	assert_int_equal(sys_rmdir_empty(in_dir(path, "e"), NULL), 0);
	assert_true(exists(outside));
	assert_true(exists(in_dir(path, "e/link")));
	assert_int_equal(sys_rmdir_empty(path, NULL), 0);
	assert_true(exists(outside));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_everything),
		cmocka_unit_test(writes_at_an_offset),
		cmocka_unit_test(disk_space),
		cmocka_unit_test(sends_files),
		cmocka_unit_test(empty_spans_are_no_trouble),
		cmocka_unit_test(a_peer_that_left_is_told_apart),
		cmocka_unit_test(no_sigpipe_comes),
		cmocka_unit_test(facts_about_files),
		cmocka_unit_test(bytes_at_an_offset),
		cmocka_unit_test(directories),
		cmocka_unit_test(empty_directories),
		cmocka_unit_test(new_links),
		cmocka_unit_test(links),
		cmocka_unit_test(followed_links),
		cmocka_unit_test(reads_what_is_no_file),
		cmocka_unit_test(directories_need_room),
		cmocka_unit_test(test_secret),
		cmocka_unit_test(parents),
	};

	return cmocka_run_group_tests_name("io", tests, make_dir, remove_dir);
}
