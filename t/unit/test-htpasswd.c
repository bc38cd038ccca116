/* SPDX-License-Identifier: MIT */
/*
 * Tests of access/htpasswd.c, which checks passwords against a file of hashes.
 * They prove that only right passwords pass, and that a changed file is
 * noticed.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "access/htpasswd.h"

#define RIGHT "$apr1$abcdefgh$tPMe7lknrFZeX55XJF00t0"
#define SLOW "$2y$08$abcdefghijklmnopqrstuuM7WmALSPQG/ubL8NksTdR4H7Y2WXZ.."

struct state {
	char path[64];
	struct htpasswd *h;
};

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int setup(void **state)
{
	struct state *s = calloc(1, sizeof(*s));
	int fd;

	*state = s;
	strcpy(s->path, "/tmp/test-htpasswd-XXXXXX");
	fd = mkstemp(s->path);
	close(fd);
	put(s->path, "# comment\n\nalice:" RIGHT "\r\n"
		     "alice:" SLOW "\nbob:" SLOW "\n");
	return fd < 0 || htpasswd_open(&s->h, s->path, NULL) < 0;
}

static int teardown(void **state)
{
	struct state *s = *state;

	htpasswd_close(s->h);
	unlink(s->path);
	free(s);
	return 0;
}

static int check(struct state *s, const char *user, const char *password)
{
	struct error warning = ERROR_INIT;
	int ret = htpasswd_check(s->h, user, password, &warning);

	assert_int_equal(warning.code, 0);
	return ret;
}

static void test_check(void **state)
{
	struct state *s = *state;
	char text[HTPASSWD_TEXT_MAX + 1];

	assert_int_equal(check(s, "alice", "right"), 1);
	assert_int_equal(check(s, "alice", "wrong"), 0);
	assert_int_equal(check(s, "alice", ""), 0);
	assert_int_equal(check(s, "carol", "right"), 0);
	assert_int_equal(check(s, "# comment", "right"), 0);
	memset(text, 'x', sizeof(text));
	text[HTPASSWD_TEXT_MAX] = '\0';
	assert_int_equal(check(s, text, "right"), 0);
	assert_int_equal(check(s, "alice", text), 0);
	text[HTPASSWD_TEXT_MAX - 1] = '\0';
	assert_int_equal(check(s, text, text), 0);
}

/*
 * Returns the CPU time of this thread in nanoseconds. Unlike the elapsed time,
 * it does not depend on the load of the machine.
 */
static uint64_t cpu_ns(void)
{
	struct timespec ts;

	assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts), 0);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/*
 * A right password is remembered, so that its slow hash is computed only once.
 * A wrong password is not remembered.
 */
static void test_memory(void **state)
{
	struct state *s = *state;
	uint64_t start = cpu_ns(), once;

	assert_int_equal(check(s, "bob", "right"), 1);
	once = cpu_ns() - start;
	start = cpu_ns();
	for (int i = 0; i < 20; i++)
		assert_int_equal(check(s, "bob", "right"), 1);
	assert_true(cpu_ns() - start < once * 10);
	assert_int_equal(check(s, "bob", "wrong"), 0);
	assert_int_equal(check(s, "bob", "wrong"), 0);
	/*
	 * The file now has another hash for this user, so the remembered
	 * password must not be accepted any more.
	 */
	put(s->path, "bob:$apr1$abcdefgh$xxxxxxxxxxxxxxxxxxxxxx\n");
	assert_int_equal(check(s, "bob", "right"), 0);
}

static void test_change(void **state)
{
	struct state *s = *state;
	struct error warning = ERROR_INIT;

	put(s->path, "alice:text\n");
	assert_int_equal(htpasswd_check(s->h, "alice", "right", &warning), 1);
	assert_non_null(
		strstr(warning.msg, ":1: the password hash of user 'alice'"));
	unlink(s->path);
	warning.code = 0;
	assert_int_equal(htpasswd_check(s->h, "alice", "right", &warning), 1);
	assert_true(warning.code < 0);
	/*
	 * A missing file is reported only once. The users that the file last
	 * listed can still log in.
	 */
	assert_int_equal(check(s, "alice", "right"), 1);
	put(s->path, "dave:" RIGHT);
	assert_int_equal(check(s, "alice", "right"), 0);
	assert_int_equal(check(s, "dave", "right"), 1);
	put(s->path, "");
	assert_int_equal(check(s, "dave", "right"), 0);
}

/*
 * While the process has no free descriptor, a changed file cannot be read, and
 * the old users stay. As soon as there is a descriptor, the file is read.
 */
static void test_no_descriptor(void **state)
{
	struct state *s = *state;
	struct error warning = ERROR_INIT;
	struct rlimit before, none;

	assert_int_equal(htpasswd_check(s->h, "alice", "right", &warning), 1);
	put(s->path, "carol:" RIGHT "\n");
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){0, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(htpasswd_check(s->h, "alice", "right", &warning), 1);
	assert_int_equal(warning.code, ERR_IO);
	warning.code = 0;
	assert_int_equal(htpasswd_check(s->h, "alice", "right", &warning), 1);
	assert_int_equal(warning.code, 0);
	/*
	 * After this pause, equal attributes prove equal content of the file.
	 */
	nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
	assert_int_equal(htpasswd_check(s->h, "alice", "right", &warning), 1);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(htpasswd_check(s->h, "alice", "right", &warning), 0);
	assert_int_equal(htpasswd_check(s->h, "carol", "right", &warning), 1);
	assert_int_equal(warning.code, 0);
}

/* An error is reported although another error was reported before. */
static void test_second_error(void **state)
{
	struct state *s = *state;
	struct error warning = ERROR_INIT;
	struct rlimit before, none;

	put(s->path, "carol:" RIGHT "\n");
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){0, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(htpasswd_check(s->h, "alice", "right", &warning), 1);
	assert_int_equal(warning.code, ERR_IO);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	/* Now a directory replaces the file. It cannot be read either. */
	unlink(s->path);
	assert_int_equal(mkdir(s->path, 0777), 0);
	warning.code = 0;
	assert_int_equal(htpasswd_check(s->h, "alice", "right", &warning), 1);
	assert_int_equal(warning.code, ERR_IO);
	assert_int_equal(warning.sys_errno, EISDIR);
	assert_int_equal(check(s, "alice", "right"), 1);
	/* Now the file is missing. */
	assert_int_equal(rmdir(s->path), 0);
	warning.code = 0;
	assert_int_equal(htpasswd_check(s->h, "alice", "right", &warning), 1);
	assert_int_equal(warning.code, ERR_MISSING);
	assert_int_equal(check(s, "alice", "right"), 1);
}

static void test_wrong(void **state)
{
	static const char *const wrong[] = {
		"alice\n",          ":" RIGHT "\n",
		"alice:\n",         "alice: " RIGHT "\n",
		"a:" RIGHT "\n\nb",
	};
	struct state *s = *state;
	struct error err = ERROR_INIT;
	struct htpasswd *h;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		put(s->path, wrong[i]);
		assert_int_equal(htpasswd_open(&h, s->path, &err), ERR_INVALID);
	}
	assert_non_null(strstr(err.msg, ":3: not of the form <user>:<hash>"));
	assert_int_equal(htpasswd_open(&h, "/no/such", &err), ERR_MISSING);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_check),        TEST(test_memory),
		TEST(test_change),       TEST(test_no_descriptor),
		TEST(test_second_error), TEST(test_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
