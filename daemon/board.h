/* SPDX-License-Identifier: MIT */
/*
 * Memory that the master shares with one worker. A slot for each thread has the
 * path of the repository that the thread serves. The master reads the slots
 * after the worker has crashed.
 */
#ifndef DAEMON_BOARD_H
#define DAEMON_BOARD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* bytes for a path with its NUL; longer paths are cut off */
#define DAEMON_PATH_MAX 256

struct daemon_board;
struct daemon_slot;

/* Returns a board with `slot_nr` slots, or NULL if memory runs out. */
struct daemon_board *daemon_board_new(unsigned slot_nr, struct error *err);

/* Releases the memory in this process. NULL is allowed. */
void daemon_board_free(struct daemon_board *board);

/* The worker serves. */
void daemon_board_set_ready(struct daemon_board *board);
bool daemon_board_is_ready(const struct daemon_board *board);

/* Returns slot `nr`, for one thread of the worker. */
struct daemon_slot *daemon_board_slot(struct daemon_board *board, unsigned nr);

/* Between both calls, the thread serves the repository at a path. */
void daemon_slot_enter(struct daemon_slot *slot, const char *path, size_t len);
void daemon_slot_leave(struct daemon_slot *slot);

/*
 * Calls `fn` with the path of each request that ran when the worker crashed.
 * The worker must have ended.
 */
void daemon_board_each(const struct daemon_board *board,
		       void (*fn)(void *ctx, const char *path), void *ctx);

#endif
