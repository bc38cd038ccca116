/* SPDX-License-Identifier: MIT */
/*
 * Memory that the master shares with the workers. Each worker has a board, and
 * each of its threads a slot with the request that the thread answers. The
 * master reads the slots after the worker has crashed, and the admin process
 * shows them.
 *
 *	boards -> board of a worker: numbers
 *	                             -> slot of a thread: path, client, begin
 */
#ifndef DAEMON_BOARD_H
#define DAEMON_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "sys/tcp.h"

/* bytes for a path with its NUL; longer paths are cut off */
#define DAEMON_PATH_MAX 256

/* Limits of the number of boards, and of the slots of a board. */
#define DAEMON_BOARDS_MAX 160
#define DAEMON_SLOTS_MAX 1024

struct daemon_boards;
struct daemon_board;
struct daemon_slot;

/*
 * Returns memory for all boards, or NULL if address space runs out. Boards that
 * are not used take up no memory.
 */
struct daemon_boards *daemon_boards_new(struct error *err);

/* Releases the memory in this process. NULL is allowed. */
void daemon_boards_free(struct daemon_boards *boards);

/*
 * Takes a free board, and clears it. Returns NULL if none is free. Only the
 * master takes boards, and gives them back.
 */
struct daemon_board *daemon_board_take(struct daemon_boards *boards,
				       unsigned slot_nr);
void daemon_board_give_back(struct daemon_board *board);

/* Sets and returns whether the worker serves. */
void daemon_board_set_ready(struct daemon_board *board);
bool daemon_board_is_ready(const struct daemon_board *board);

/* Returns slot `nr`, for one thread of the worker. */
struct daemon_slot *daemon_board_slot(struct daemon_board *board, unsigned nr);

/*
 * Between daemon_slot_enter() and daemon_slot_leave(), the thread serves the
 * repository at `path`. `client` is a numeric address or "". `is_suspect`: the
 * repository was already suspect of crashes at the start of the request.
 */
void daemon_slot_enter(struct daemon_slot *slot, const char *path, size_t len,
		       const char *client, bool is_suspect);

/*
 * Records that a child process answers the request. A crash of the worker is
 * then not blamed on this request.
 */
void daemon_slot_hand_over(struct daemon_slot *slot);
void daemon_slot_leave(struct daemon_slot *slot);

/*
 * Calls `fn` with the path of each request that ran when the worker crashed.
 * The worker must have ended.
 */
void daemon_board_each(const struct daemon_board *board,
		       void (*fn)(void *ctx, const char *path, bool is_suspect),
		       void *ctx);

/* A number that a worker shows on its board. */
enum daemon_gauge {
	DAEMON_GAUGE_CONNECTIONS,
	DAEMON_GAUGE_SNAPSHOTS,
	DAEMON_GAUGE_PLAN_BYTES,
	DAEMON_GAUGE_NR,
};

void daemon_board_set(struct daemon_board *board, enum daemon_gauge gauge,
		      uint64_t number);

/* A copy of a board in use. */
struct daemon_board_view {
	/* process id of the worker; 0: it does not serve yet */
	long pid;
	unsigned requests; /* slots in use */
	uint64_t gauges[DAEMON_GAUGE_NR];
};

/* A copy of a slot in use. */
struct daemon_slot_view {
	char path[DAEMON_PATH_MAX];
	char client[SYS_ADDRESS_MAX]; /* "": unknown */
	uint64_t begin_ns;            /* sys_clock_ns() */
};

/*
 * Copies the boards in use, and the first slots in use. Returns the number of
 * boards; *slot_nr becomes the number of copied slots. A slot that changes
 * meanwhile is left out.
 */
size_t daemon_boards_view(const struct daemon_boards *boards,
			  struct daemon_board_view views[DAEMON_BOARDS_MAX],
			  struct daemon_slot_view *slots, size_t slot_max,
			  size_t *slot_nr);

#endif
