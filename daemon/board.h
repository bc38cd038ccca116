/* SPDX-License-Identifier: MIT */
/*
 * Memory that the master shares with one worker. The master can read it after
 * the worker has crashed.
 */
#ifndef DAEMON_BOARD_H
#define DAEMON_BOARD_H

#include <stdbool.h>

#include "base/error.h"

struct daemon_board;

/* Returns a board, or NULL if memory runs out. */
struct daemon_board *daemon_board_new(struct error *err);

/* Releases the memory in this process. NULL is allowed. */
void daemon_board_free(struct daemon_board *board);

/* The worker serves. */
void daemon_board_set_ready(struct daemon_board *board);
bool daemon_board_is_ready(const struct daemon_board *board);

#endif
