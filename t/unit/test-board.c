/* SPDX-License-Identifier: MIT */
/* Tests of daemon/board.c: a child writes, and the parent reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/board.h"

static void test_shared(void **state)
{
	struct daemon_board *board = daemon_board_new(NULL);
	int status;
	pid_t pid;

	assert_non_null(board);
	assert_false(daemon_board_is_ready(board));
	pid = fork();
	if (!pid) {
		daemon_board_set_ready(board);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(daemon_board_is_ready(board));
	daemon_board_free(board);
	daemon_board_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
