/* SPDX-License-Identifier: MIT */
/* Memory that the master shares with a worker. */
#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"
#include "daemon/board.h"
#include "sys/process.h"

struct daemon_slot {
	atomic_bool is_busy;
	char path[DAEMON_PATH_MAX]; /* valid if is_busy */
};

struct daemon_board {
	size_t size; /* bytes of the whole board */
	unsigned slot_nr;
	atomic_bool is_ready;
	struct daemon_slot slots[];
};

struct daemon_board *daemon_board_new(unsigned slot_nr, struct error *err)
{
	struct daemon_board *board = NULL;
	size_t size;

	if (mem_mul(&size, slot_nr, sizeof(board->slots[0])) &&
	    mem_add(&size, size, sizeof(*board)))
		board = sys_memory_shared(size);
	if (!board) {
		error_nomem(err);
		return NULL;
	}
	board->size = size;
	board->slot_nr = slot_nr;
	return board;
}

void daemon_board_free(struct daemon_board *board)
{
	if (board)
		sys_memory_unshare(board, board->size);
}

void daemon_board_set_ready(struct daemon_board *board)
{
	atomic_store(&board->is_ready, true);
}

bool daemon_board_is_ready(const struct daemon_board *board)
{
	return atomic_load(&board->is_ready);
}

struct daemon_slot *daemon_board_slot(struct daemon_board *board, unsigned nr)
{
	return &board->slots[nr];
}

void daemon_slot_enter(struct daemon_slot *slot, const char *path, size_t len)
{
	if (len >= sizeof(slot->path))
		len = sizeof(slot->path) - 1;
	memcpy(slot->path, path, len);
	slot->path[len] = '\0';
	atomic_store(&slot->is_busy, true);
}

void daemon_slot_leave(struct daemon_slot *slot)
{
	atomic_store(&slot->is_busy, false);
}

void daemon_board_each(const struct daemon_board *board,
		       void (*fn)(void *ctx, const char *path), void *ctx)
{
	for (unsigned i = 0; i < board->slot_nr; i++)
		if (atomic_load(&board->slots[i].is_busy))
			fn(ctx, board->slots[i].path);
}
