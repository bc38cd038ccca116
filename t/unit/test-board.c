/* SPDX-License-Identifier: MIT */
/* Tests of daemon/board.c: a child writes, and the parent reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/board.h"

static void check_path(void *ctx, const char *path)
{
	++*(int *)ctx;
	assert_string_equal(path, "/a.git");
}

static void check_long(void *ctx, const char *path)
{
	assert_int_equal(strlen(path), DAEMON_PATH_MAX - 1);
}

static void test_shared(void **state)
{
	struct daemon_board *board = daemon_board_new(3, NULL);
	int status;
	pid_t pid;

	assert_non_null(board);
	assert_false(daemon_board_is_ready(board));
	pid = fork();
	if (!pid) {
		daemon_board_set_ready(board);
		daemon_slot_enter(daemon_board_slot(board, 0), "/first", 6);
		daemon_slot_enter(daemon_board_slot(board, 2), "/a.git/x", 6);
		daemon_slot_leave(daemon_board_slot(board, 0));
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(daemon_board_is_ready(board));
	status = 0;
	daemon_board_each(board, check_path, &status);
	assert_int_equal(status, 1);
	daemon_board_free(board);
	daemon_board_free(NULL);
}

static void test_long_path(void **state)
{
	struct daemon_board *board = daemon_board_new(1, NULL);
	char path[2 * DAEMON_PATH_MAX];

	memset(path, 'x', sizeof(path));
	daemon_slot_enter(daemon_board_slot(board, 0), path, sizeof(path));
	daemon_board_each(board, check_long, NULL);
	daemon_board_free(board);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_long_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
