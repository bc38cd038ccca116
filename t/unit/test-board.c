/* SPDX-License-Identifier: MIT */
/*
 * Tests of status/board.c, which shares the state of the server's workers in
 * memory. They prove that one process can read the state that another process
 * has written.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "status/board.h"

static const struct status_request first = {"/first", 6, "", ""};
static const struct status_request request = {"/a.git/x", 6, "192.0.2.1",
					      "ann"};

static void check_path(void *ctx, const char *path, bool is_suspect)
{
	++*(int *)ctx;
	assert_string_equal(path, "/a.git");
	assert_true(is_suspect);
}

static void check_long(void *ctx, const char *path, bool is_suspect)
{
	assert_int_equal(strlen(path), STATUS_PATH_MAX - 1);
	assert_false(is_suspect);
}

static void test_shared(void **state)
{
	struct status_boards *boards = status_boards_new(NULL);
	struct status_board *board = status_board_take(boards, 3);
	struct status_board_view views[STATUS_BOARDS_MAX];
	struct status_slot_view slots[4];
	size_t nr;
	int status;
	pid_t pid;

	assert_non_null(board);
	assert_false(status_board_is_ready(board));
	pid = fork();
	if (!pid) {
		status_board_set_ready(board);
		status_slot_enter(status_board_slot(board, 0), &first, false);
		status_slot_enter(status_board_slot(board, 2), &request, true);
		status_board_set(board, STATUS_GAUGE_CONNECTIONS, 7);
		status_slot_leave(status_board_slot(board, 0));
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(status_board_is_ready(board));
	status = 0;
	status_board_each(board, check_path, &status);
	assert_int_equal(status, 1);
	/* The parent process can read the state that the child has written. */
	assert_int_equal(status_boards_view(boards, views, slots, 4, &nr), 1);
	assert_int_equal(views[0].pid, pid);
	assert_int_equal(views[0].requests, 1);
	assert_int_equal(views[0].gauges[STATUS_GAUGE_CONNECTIONS], 7);
	assert_int_equal(nr, 1);
	assert_string_equal(slots[0].path, "/a.git");
	assert_string_equal(slots[0].client, "192.0.2.1");
	assert_string_equal(slots[0].user, "ann");
	assert_false(slots[0].is_sending);
	assert_true(slots[0].begin_ns > 0);
	assert_int_equal(status_boards_view(boards, views, slots, 0, &nr), 1);
	assert_int_equal(nr, 0);
	/*
	 * A board (the memory of one worker) is empty when it is taken again.
	 */
	status_board_give_back(board);
	assert_int_equal(status_boards_view(boards, views, slots, 4, &nr), 0);
	assert_ptr_equal(status_board_take(boards, 2), board);
	assert_false(status_board_is_ready(board));
	assert_int_equal(status_boards_view(boards, views, slots, 4, &nr), 1);
	assert_int_equal(views[0].pid, 0);
	assert_int_equal(views[0].requests, 0);
	assert_int_equal(views[0].gauges[STATUS_GAUGE_CONNECTIONS], 0);
	/* All STATUS_BOARDS_MAX boards (one for each worker) can be taken. */
	for (int i = 1; i < STATUS_BOARDS_MAX; i++)
		assert_non_null(status_board_take(boards, 1));
	assert_null(status_board_take(boards, 1));
	status_boards_free(boards);
	status_boards_free(NULL);
}

/*
 * Answers that the loop sends have slots of their own. Slots are used again,
 * and an answer that finds no free slot is not shown. A crash is blamed on no
 * answer that the loop sends.
 */
static void test_sending(void **state)
{
	static struct status_slot_view slots[2 * STATUS_SENDS_MAX];
	static struct status_board_view views[STATUS_BOARDS_MAX];
	struct status_boards *boards = status_boards_new(NULL);
	struct status_board *board = status_board_take(boards, 1);
	struct status_slot *sends[STATUS_SENDS_MAX];
	int blamed = 0;
	size_t nr;

	for (size_t i = 0; i < STATUS_SENDS_MAX; i++) {
		sends[i] = status_send_begin(board, &request, 5 + i);
		assert_non_null(sends[i]);
	}
	assert_null(status_send_begin(board, &request, 1));
	status_send_end(board, NULL);
	status_board_each(board, check_path, &blamed);
	assert_int_equal(blamed, 0);
	status_boards_view(boards, views, slots, 2 * STATUS_SENDS_MAX, &nr);
	assert_int_equal(nr, STATUS_SENDS_MAX);
	assert_int_equal(views[0].requests, 0);
	assert_true(slots[0].is_sending);
	assert_string_equal(slots[0].path, "/a.git");
	assert_string_equal(slots[0].user, "ann");
	assert_int_equal(slots[0].begin_ns, 5);
	for (size_t i = 0; i < STATUS_SENDS_MAX; i += 2)
		status_send_end(board, sends[i]);
	status_boards_view(boards, views, slots, 2 * STATUS_SENDS_MAX, &nr);
	assert_int_equal(nr, STATUS_SENDS_MAX / 2);
	assert_int_equal(slots[0].begin_ns, 6);
	for (size_t i = 0; i < STATUS_SENDS_MAX; i += 2)
		assert_non_null(status_send_begin(board, &first, 7));
	assert_null(status_send_begin(board, &first, 7));
	/* An empty board shows no answer. */
	status_board_give_back(board);
	assert_ptr_equal(status_board_take(boards, 1), board);
	status_boards_view(boards, views, slots, 2 * STATUS_SENDS_MAX, &nr);
	assert_int_equal(nr, 0);
	assert_non_null(status_send_begin(board, &first, 8));
	status_boards_view(boards, views, slots, 2 * STATUS_SENDS_MAX, &nr);
	assert_int_equal(nr, 1);
	status_boards_free(boards);
}

static void test_long_path(void **state)
{
	struct status_boards *boards = status_boards_new(NULL);
	struct status_board *board = status_board_take(boards, 1);
	char path[2 * STATUS_PATH_MAX];
	const struct status_request longest = {path, sizeof(path), "", ""};

	memset(path, 'x', sizeof(path));
	status_slot_enter(status_board_slot(board, 0), &longest, false);
	status_board_each(board, check_long, NULL);
	status_boards_free(boards);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_sending),
		cmocka_unit_test(test_long_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
