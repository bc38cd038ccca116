/* SPDX-License-Identifier: MIT */
/*
 * Memory that the master shares with the workers. Each worker has a board, and
 * each of its threads a slot with the request that the thread answers. The
 * master reads the slots after the worker has crashed. The admin process shows
 * them on the status page.
 *
 *	boards -> board of a worker: numbers
 *	                             -> slot of a thread: path, client, begin
 */
#ifndef STATUS_BOARD_H
#define STATUS_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "sys/tcp.h"

/* bytes for a path with its NUL; longer paths are cut off */
#define STATUS_PATH_MAX 256

/*
 * Limits of the number of boards (one for each worker), and of the slots of a
 * board (one for each thread of the worker).
 */
#define STATUS_BOARDS_MAX 160
#define STATUS_SLOTS_MAX 1024

struct status_boards;
struct status_board;
struct status_slot;

/*
 * Returns memory for the boards of all workers, or NULL if address space runs
 * out. Boards that are not used take up no memory.
 */
struct status_boards *status_boards_new(struct error *err);

/* Releases the memory in this process. NULL is allowed. */
void status_boards_free(struct status_boards *boards);

/*
 * Takes a free board (the memory in which one worker shows its requests), and
 * clears it. Returns NULL if none is free. Only the master takes boards, and
 * gives them back.
 */
struct status_board *status_board_take(struct status_boards *boards,
				       unsigned slot_nr);
void status_board_give_back(struct status_board *board);

/*
 * The worker calls status_board_set_ready() when it serves. The master calls
 * status_board_is_ready() to find out whether the worker serves.
 */
void status_board_set_ready(struct status_board *board);
bool status_board_is_ready(const struct status_board *board);

/*
 * Returns slot `nr` of a board: the memory in which one thread of the worker
 * shows its present request.
 */
struct status_slot *status_board_slot(struct status_board *board, unsigned nr);

/*
 * Between status_slot_enter() and status_slot_leave(), the thread serves the
 * repository at `path`. `client` is a numeric address or "". `is_suspect`: at
 * the start of the request, the repository was suspected of crashing workers.
 */
void status_slot_enter(struct status_slot *slot, const char *path, size_t len,
		       const char *client, bool is_suspect);

/*
 * Records that a child process answers the request. If the worker crashes
 * later, this request is not suspected as the cause.
 */
void status_slot_hand_over(struct status_slot *slot);
void status_slot_leave(struct status_slot *slot);

/*
 * Calls `fn` for each request that ran when the worker crashed, with the `path`
 * and `is_suspect` of status_slot_enter(). The worker must have ended.
 */
void status_board_each(const struct status_board *board,
		       void (*fn)(void *ctx, const char *path, bool is_suspect),
		       void *ctx);

/* A number that a worker shows on its board. */
enum status_gauge {
	STATUS_GAUGE_CONNECTIONS,
	STATUS_GAUGE_SNAPSHOTS,
	STATUS_GAUGE_PLAN_BYTES,
	STATUS_GAUGE_NR,
};

void status_board_set(struct status_board *board, enum status_gauge gauge,
		      uint64_t number);

/*
 * A copy of the board of one worker: the numbers that the worker shows on the
 * status page.
 */
struct status_board_view {
	/* process id of the worker; 0: the worker does not serve yet */
	long pid;
	unsigned requests; /* slots in use */
	uint64_t gauges[STATUS_GAUGE_NR];
};

/* A copy of a slot in use. */
struct status_slot_view {
	char path[STATUS_PATH_MAX];
	char client[SYS_ADDRESS_MAX]; /* "": unknown */
	uint64_t begin_ns;            /* sys_clock_ns() */
};

/*
 * Copies the boards in use (one for each worker) to `views`, and the first
 * `slot_max` slots in use (one for each running request) to `slots`. Returns
 * the number of boards. *slot_nr becomes the number of copied slots. A slot
 * that changes meanwhile is left out.
 */
size_t status_boards_view(const struct status_boards *boards,
			  struct status_board_view views[STATUS_BOARDS_MAX],
			  struct status_slot_view *slots, size_t slot_max,
			  size_t *slot_nr);

#endif
