/* SPDX-License-Identifier: MIT */
/*
 * Tests of sys/trace.c: trace lines for GIT_TRACE2 and similar variables are
 * those of stock Git.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <pthread.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "sys/clock.h"
#include "sys/trace-line.h"

static const struct trace_at at = {"room/file.c", 7};

/* A trace whose only target is a pipe. The test reads from the pipe. */
struct listener {
	struct trace t;
	int fd;
	char text[70000]; /* output of the last call */
};

static void listen_to(struct listener *l, enum trace_target target, bool brief)
{
	int fds[2];

	assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
	trace_init(&l->t, "parent/me", sys_clock_ns());
	l->t.files[target] = (struct trace_file){fds[1], true};
	l->t.is_brief[target] = brief;
	l->fd = fds[0];
	assert_true(trace_is_on(&l->t));
	assert_true(trace_wants(&l->t, target));
}

static const char *said(struct listener *l)
{
	ssize_t n = read(l->fd, l->text, sizeof(l->text) - 1);

	l->text[n > 0 ? n : 0] = '\0';
	return l->text;
}

static void check_said(struct listener *l, const char *expected)
{
	assert_string_equal(said(l), expected);
}

static void check_matches(struct listener *l, const char *pattern)
{
	regex_t re;

	said(l);
	assert_int_equal(regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB), 0);
	if (regexec(&re, l->text, 0, NULL, 0)) {
		print_message("%s\ndoes not match\n%s\n", l->text, pattern);
		fail();
	}
	regfree(&re);
}

static void stop(struct listener *l)
{
	trace_release(&l->t);
	close(l->fd);
}

static const char *const words[] = {"git", "a b", "it's", "", "x=1", NULL};
static const char *const names[] = {"bash", "init", NULL};

static void test_normal(void **state)
{
	struct trace_child child;
	struct listener l;

	listen_to(&l, TRACE_NORMAL, true);
	trace_version_at(&l.t, at, "1.2");
	check_said(&l, "version 1.2\n");
	trace_start_at(&l.t, at, words);
	check_said(&l, "start git 'a b' 'it'\\''s' '' x=1\n");
	trace_ancestry_at(&l.t, at, names);
	check_said(&l, "cmd_ancestry bash <- init\n");
	trace_name_at(&l.t, at, "repack", "gc/repack");
	check_said(&l, "cmd_name repack (gc/repack)\n");
	trace_param_at(&l.t, at, "global", "user.name", "me");
	trace_param_at(&l.t, at, NULL, "HOME", "/h");
	check_said(&l, "def_param scope:global user.name=me\n"
		       "def_param scope:unknown HOME=/h\n");
	trace_repo_at(&l.t, at, "/r");
	check_said(&l, "worktree /r\n");
	trace_error_at(&l.t, at, "%s %%s", "bad %s");
	check_said(&l, "error bad %s\n");
	trace_child_start_at(&l.t, at, &child, words, NULL);
	check_said(&l, "child_start[0] git 'a b' 'it'\\''s' '' x=1\n");
	trace_child_exit_at(&l.t, at, &child, 12, 3);
	check_matches(&l, "^child_exit\\[0\\] pid:12 code:3 "
			  "elapsed:0\\.[0-9]{6}\n$");
	trace_exit_at(&l.t, at, 1);
	check_matches(&l, "^exit elapsed:0\\.[0-9]{6} code:1\n"
			  "atexit elapsed:0\\.[0-9]{6} code:1\n$");
	/* GIT_TRACE2 gets no lines for regions and data. */
	trace_region_enter_at(&l.t, at, "c", "l");
	trace_data_at(&l.t, at, "c", "k", "v");
	trace_region_leave_at(&l.t, at, "c", "l");
	trace_packet_at(&l.t, at, "who", true, "x", 1);
	check_said(&l, "");
	l.t.is_brief[TRACE_NORMAL] = false;
	trace_version_at(&l.t, at, "1.2");
	check_matches(&l, "^[0-9:]{8}\\.[0-9]{6} room/file.c:7 {21}"
			  "version 1.2\n$");
	stop(&l);
}

static void test_perf(void **state)
{
	struct trace_child child;
	struct listener l;

	listen_to(&l, TRACE_PERF, true);
	trace_version_at(&l.t, at, "1.2");
	check_said(&l, "d1 | main                     | version      |     | "
		       "          |           |              | 1.2\n");
	trace_repo_at(&l.t, at, "/r");
	check_said(&l, "d1 | main                     | def_repo     | r1  | "
		       "          |           |              | worktree:/r\n");
	trace_region_enter_at(&l.t, at, "cat", "outer");
	check_matches(&l, "\\| region_enter \\| r1  \\|  0\\.[0-9]{6} \\| "
			  "          \\| cat          \\| label:outer\n$");
	trace_region_enter_at(&l.t, at, "cat", "inner");
	check_matches(&l, "\\| cat          \\| \\.\\.label:inner\n$");
	trace_data_u64_at(&l.t, at, "a-long-category", "key", 5);
	check_matches(&l, "\\| data         \\| r1  \\|  0\\.[0-9]{6} \\|  "
			  "0\\.[0-9]{6} \\| a-long-categ \\| "
			  "\\.\\.\\.\\.key:5\n$");
	trace_region_leave_at(&l.t, at, "cat", "inner");
	check_matches(&l, "region_leave \\| r1  \\|  0\\.[0-9]{6} \\|  "
			  "0\\.[0-9]{6} \\| cat          \\| "
			  "\\.\\.label:inner\n$");
	trace_region_leave_at(&l.t, at, "cat", "outer");
	check_matches(&l, "\\| label:outer\n$");
	trace_child_start_at(&l.t, at, &child, words, "update");
	check_matches(&l, "\\[ch0\\] class:hook hook:update argv:\\[git ");
	trace_child_exit_at(&l.t, at, &child, 12, 3);
	check_matches(&l, "\\| \\[ch0\\] pid:12 code:3\n$");
	l.t.is_brief[TRACE_PERF] = false;
	trace_exit_at(&l.t, at, 1);
	check_matches(&l, "^[0-9:]{8}\\.[0-9]{6} room/file.c:7 {16}\\| d1 "
			  "\\| main {20} ");
	stop(&l);
}

static void test_event(void **state)
{
	struct trace_child child;
	unsigned ids[2];
	struct listener l;

	listen_to(&l, TRACE_EVENT, true);
	trace_name_at(&l.t, at, "a\"b\377", "x");
	check_said(&l, "{\"event\":\"cmd_name\",\"sid\":\"parent/me\","
		       "\"thread\":\"main\",\"name\":\"a\\\"b\\u00ff\","
		       "\"hierarchy\":\"x\"}\n");
	trace_start_at(&l.t, at, words);
	check_matches(&l, "\"t_abs\":0\\.[0-9]{6},\"argv\":\\[\"git\",\"a b\","
			  "\"it's\",\"\",\"x=1\"\\]\\}\n$");
	trace_region_enter_at(&l.t, at, "cat", "outer");
	check_matches(&l, "\"nesting\":1,\"category\":\"cat\","
			  "\"label\":\"outer\"\\}\n$");
	trace_repo_at(&l.t, at, "/r");
	check_matches(&l, "\"repo\":1,\"worktree\":\"/r\"\\}\n$");
	trace_data_at(&l.t, at, "cat", "key", "v");
	check_matches(&l, "\"repo\":1,\"t_abs\":0\\.[0-9]{6},"
			  "\"t_rel\":0\\.[0-9]{6},\"nesting\":2,"
			  "\"category\":\"cat\",\"key\":\"key\","
			  "\"value\":\"v\"\\}\n$");
	trace_region_enter_at(&l.t, at, "cat", "inner");
	said(&l);
	/*
	 * Regions are nested too deeply, so no data is written. Records of
	 * requests are still written.
	 */
	trace_data_at(&l.t, at, "cat", "key", "v");
	trace_json_at(&l.t, at, "cat", "key", "[]");
	check_said(&l, "");
	trace_request_at(&l.t, at, "{\"a\":1}");
	check_matches(&l, "\"nesting\":3,\"category\":\"gitreach\","
			  "\"key\":\"request\",\"value\":\\{\"a\":1\\}\\}\n$");
	trace_child_start_at(&l.t, at, &child, names, "update");
	check_matches(&l, "\"child_id\":0,\"child_class\":\"hook\","
			  "\"hook_name\":\"update\",\"use_shell\":false,"
			  "\"argv\":\\[\"bash\",\"init\"\\]\\}\n$");
	trace_exec_at(&l.t, at, &ids[0], "/bin/x", names);
	check_matches(&l, "\"exec_id\":0,\"exe\":\"/bin/x\",\"argv\":");
	trace_exec_at(&l.t, at, &ids[1], "/bin/y", names);
	check_matches(&l, "\"exec_id\":1,\"exe\":\"/bin/y\",\"argv\":");
	trace_exec_result_at(&l.t, at, ids[0], 2);
	check_matches(&l, "\"exec_id\":0,\"code\":2\\}\n$");
	l.t.is_brief[TRACE_EVENT] = false;
	trace_too_many_files_at(&l.t, at);
	check_matches(&l, "\"time\":\"20[0-9-]{8}T[0-9:]{8}\\.[0-9]{6}Z\","
			  "\"file\":\"room/file.c\",\"line\":7\\}\n$");
	stop(&l);
}

static void test_log(void **state)
{
	struct listener l;

	listen_to(&l, TRACE_LOG, false);
	trace_start_at(&l.t, at, words);
	trace_data_at(&l.t, at, "gitreach", "request", "v");
	check_said(&l, "");
	trace_request_at(&l.t, at, "{}");
	check_matches(&l,
		      "^\\{\"event\":\"data_json\",.*\"value\":\\{\\}\\}\n$");
	stop(&l);
}

static void test_packets(void **state)
{
	static const char bytes[] = "want\0caps\001\\\"\377\n";
	struct listener l;

	listen_to(&l, TRACE_PACKET, false);
	trace_packet_at(&l.t, at, "upload-pack", false, bytes,
			sizeof(bytes) - 1);
	check_matches(&l, "^[0-9:]{8}\\.[0-9]{6} room/file.c:7 {11}packet:  "
			  "upload-pack< want\\\\0caps\\\\1\\\\\"\\\\377\n$");
	trace_builtin_at(&l.t, at, words);
	check_said(&l, "");
	stop(&l);
	listen_to(&l, TRACE_GENERAL, false);
	trace_builtin_at(&l.t, at, words);
	check_matches(&l, " {11}trace: built-in: git git 'a b' ");
	stop(&l);
}

/* A packet of the maximum length is one line, written by one system call. */
static void test_long_line(void **state)
{
	struct listener l;
	size_t len = 60000;
	char *bytes = malloc(len);

	memset(bytes, 'x', len);
	listen_to(&l, TRACE_PACKET, false);
	trace_packet_at(&l.t, at, "upload-pack", true, bytes, len);
	said(&l);
	assert_int_equal(strspn(strchr(l.text, '>') + 2, "x"), len);
	assert_string_equal(l.text + strlen(l.text) - 2, "x\n");
	free(bytes);
	stop(&l);
}

/*
 * More nested regions are entered than the trace can store. Then
 * trace_region_leave_at() is called more often than trace_region_enter_at()
 * was. At the end, the nesting must be 0.
 */
static void test_nesting(void **state)
{
	struct listener l;

	listen_to(&l, TRACE_PERF, true);
	for (int i = 0; i < TRACE_NESTING_MAX + 3; i++)
		trace_region_enter_at(&l.t, at, "c", "l");
	for (int i = 0; i < TRACE_NESTING_MAX + 5; i++)
		trace_region_leave_at(&l.t, at, "c", "l");
	assert_int_equal(l.t.nesting, 0);
	stop(&l);
}

static void *tell(void *arg)
{
	for (int i = 0; i < 100; i++)
		trace_data_at(arg, at, "cat", "key", "value");
	return NULL;
}

static void *run_children(void *arg)
{
	static const char *const argv[] = {"x", NULL};

	for (int i = 0; i < 100; i++) {
		struct trace_child child;

		trace_child_start_at(arg, at, &child, argv, NULL);
		trace_child_exit_at(arg, at, &child, 1, 0);
	}
	return NULL;
}

/*
 * Other threads write events while the first thread enters and leaves regions
 * and opens a repository. The thread sanitizer reports unguarded reads.
 */
static void test_regions_and_threads(void **state)
{
	void *(*const fns[2])(void *) = {tell, run_children};
	pthread_t threads[2];
	struct listener l;

	listen_to(&l, TRACE_PERF, true);
	for (int i = 0; i < 2; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, fns[i], &l.t), 0);
	for (int i = 0; i < 100; i++) {
		trace_region_enter_at(&l.t, at, "cat", "label");
		trace_repo_at(&l.t, at, "/w");
		trace_region_leave_at(&l.t, at, "cat", "label");
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(l.t.nesting, 0);
	stop(&l);
}

static void test_threads(void **state)
{
	pthread_t threads[2];
	struct listener l;
	size_t nr = 0;

	listen_to(&l, TRACE_EVENT, true);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, tell, &l.t),
				 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (const char *p = said(&l); *p; p = strchr(p, '\n') + 1) {
		assert_memory_equal(p, "{\"event\":\"data\"", 15);
		nr++;
	}
	assert_int_equal(nr, 200);
	stop(&l);
}

static void test_thread(void **state)
{
	struct listener l;
	struct trace t;

	listen_to(&l, TRACE_LOG, true);
	trace_init_thread(&t, &l.t);
	assert_string_equal(t.sid, l.t.sid);
	trace_region_enter_at(&t, at, "a", "b");
	assert_int_equal(t.nesting, 1);
	assert_int_equal(l.t.nesting, 0);
	trace_request_at(&t, at, "{}");
	assert_non_null(strstr(said(&l), "\"value\":{}"));
	trace_release(&t);
	/*
	 * The released trace had only borrowed the descriptor. So the
	 * descriptor must still be open.
	 */
	trace_request_at(&l.t, at, "{}");
	assert_non_null(strstr(said(&l), "\"value\":{}"));
	close(l.fd);
	trace_release(&l.t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_normal),
		cmocka_unit_test(test_perf),
		cmocka_unit_test(test_event),
		cmocka_unit_test(test_thread),
		cmocka_unit_test(test_log),
		cmocka_unit_test(test_packets),
		cmocka_unit_test(test_long_line),
		cmocka_unit_test(test_nesting),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_regions_and_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
