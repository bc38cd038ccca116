/* SPDX-License-Identifier: MIT */
/*
 * Tests of daemon/guard.c, which decides whether a request for a repository is
 * answered by a thread, by a child process, or not at all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/conn.h"
#include "daemon/guard.h"
#include "daemon/suspects.h"
#include "status/board.h"
#include "sys/clock.h"

static const struct status_request request = {
	.path = "/a.git/info",
	.path_len = 6,
	.client = "192.0.2.1",
	.user = "ann",
};

struct server {
	struct status_boards *boards;
	struct status_board *board;
	struct daemon_shared shared;
	struct daemon_conn conn;
};

static void start(struct server *s)
{
	memset(s, 0, sizeof(*s));
	s->boards = status_boards_new(NULL);
	assert_non_null(s->boards);
	s->board = status_board_take(s->boards, 1);
	assert_non_null(s->board);
	s->shared.suspects = daemon_suspects_new(NULL);
	assert_non_null(s->shared.suspects);
	s->conn.shared = &s->shared;
	s->conn.slot = status_board_slot(s->board, 0);
}

static void stop(struct server *s)
{
	daemon_suspects_free(s->shared.suspects);
	status_board_give_back(s->board);
	status_boards_free(s->boards);
}

/* Counts the requests that would be blamed for a crash of the worker. */
static void count(void *ctx, const char *path, bool is_suspect)
{
	unsigned *nr = ctx;

	assert_string_equal(path, "/a.git");
	nr[is_suspect]++;
}

/*
 * Checks how many requests of the worker run in its threads: those of trusted
 * repositories, and those of suspects (repositories whose requests have crashed
 * workers).
 */
static void check_running(const struct server *s, unsigned trusted,
			  unsigned suspect)
{
	unsigned nr[2] = {0, 0};

	status_board_each(s->board, count, nr);
	assert_int_equal(nr[0], trusted);
	assert_int_equal(nr[1], suspect);
}

static void crash_twice(const struct server *s)
{
	for (int i = 0; i < 2; i++)
		daemon_suspects_crash(s->shared.suspects, "/a.git", 6,
				      sys_clock_ns());
}

/*
 * A repository without crashes: a thread answers the request, and the board
 * (memory that shows the state of the worker) counts it.
 */
static void test_trusted(void **state)
{
	struct daemon_guard guard;
	struct server s;

	start(&s);
	assert_int_equal(daemon_guard_enter(&guard, &s.conn, &request, NULL),
			 0);
	assert_false(guard.is_suspect);
	check_running(&s, 1, 0);
	/*
	 * The exit status of a child matters only if the repository is a
	 * suspect: its earlier requests have crashed workers.
	 */
	daemon_guard_leave(&guard, 128 + SIGSEGV);
	check_running(&s, 0, 0);
	assert_int_equal(daemon_guard_enter(&guard, &s.conn, &request, NULL),
			 0);
	assert_false(guard.is_suspect);
	daemon_guard_leave(&guard, 0);
	stop(&s);
}

/*
 * After two crashes, a child process answers. If the child exits, or a signal
 * from outside stops it, the next request is answered in the same way. If the
 * child crashes, the next request is refused.
 */
static void test_suspect(void **state)
{
	static const int harmless[] = {0, 1, 128, 128 + SIGKILL, 128 + SIGTERM};
	struct error err = ERROR_INIT;
	struct daemon_guard guard;
	struct server s;

	start(&s);
	crash_twice(&s);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(
			daemon_guard_enter(&guard, &s.conn, &request, NULL), 0);
		assert_true(guard.is_suspect);
		check_running(&s, 0, 1);
		daemon_guard_hand_over(&guard);
		check_running(&s, 0, 0);
		daemon_guard_leave(&guard, harmless[i]);
	}
	assert_int_equal(daemon_guard_enter(&guard, &s.conn, &request, NULL),
			 0);
	daemon_guard_leave(&guard, 128 + SIGSEGV);
	assert_int_equal(daemon_guard_enter(&guard, &s.conn, &request, &err),
			 ERR_DENIED);
	assert_true(guard.is_refused);
	assert_string_equal(err.msg,
			    "requests for '/a.git' are refused because earlier "
			    "ones crashed a worker process");
	check_running(&s, 0, 0);
	stop(&s);
}

/* Each signal by which a faulty program ends counts as a crash. */
static void test_signals(void **state)
{
	static const int fatal[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL,
				    SIGSEGV, SIGSYS, SIGTRAP};

	for (size_t i = 0; i < 7; i++) {
		struct daemon_guard guard;
		struct server s;

		start(&s);
		crash_twice(&s);
		assert_int_equal(
			daemon_guard_enter(&guard, &s.conn, &request, NULL), 0);
		daemon_guard_leave(&guard, 128 + fatal[i]);
		assert_int_equal(
			daemon_guard_enter(&guard, &s.conn, &request, NULL),
			ERR_DENIED);
		stop(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trusted),
		cmocka_unit_test(test_suspect),
		cmocka_unit_test(test_signals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
