/* SPDX-License-Identifier: MIT */
/* Memory that the master shares with a worker. */
#include <stdatomic.h>
#include <stddef.h>

#include "daemon/board.h"
#include "sys/process.h"

struct daemon_board {
	atomic_bool is_ready;
};

struct daemon_board *daemon_board_new(struct error *err)
{
	struct daemon_board *board = sys_memory_shared(sizeof(*board));

	if (!board)
		error_nomem(err);
	return board;
}

void daemon_board_free(struct daemon_board *board)
{
	sys_memory_unshare(board, sizeof(*board));
}

void daemon_board_set_ready(struct daemon_board *board)
{
	atomic_store(&board->is_ready, true);
}

bool daemon_board_is_ready(const struct daemon_board *board)
{
	return atomic_load(&board->is_ready);
}
