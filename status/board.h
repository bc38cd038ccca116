/* SPDX-License-Identifier: MIT */
/*
 * Memory that the master shares with the workers. Each worker has a board, and
 * each of its threads a slot with the request that the thread answers. The
 * master reads the slots after the worker has crashed. The admin process shows
 * them on the status page.
 *
 * When a thread has made an answer, the loop of the worker may still have to
 * send bytes of it. The answer then has one of the slots for such answers.
 *
 *	boards -> board of a worker: numbers
 *	              -> slot of a thread: path, client, user, begin
 *	              -> slot of an answer that the loop sends: the same
 */
#ifndef STATUS_BOARD_H
#define STATUS_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "sys/tcp.h"

/* bytes for a text with its NUL; longer texts are cut off */
#define STATUS_PATH_MAX 256
#define STATUS_USER_MAX 64

/*
 * Limits of the number of boards (one for each worker), of the slots of a board
 * (one for each thread of the worker), and of its slots for answers that the
 * loop sends.
 */
#define STATUS_BOARDS_MAX 160
#define STATUS_SLOTS_MAX 1024
#define STATUS_SENDS_MAX 256

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

/* A request, as a slot shows it. All strings are borrowed. */
struct status_request {
	const char *path; /* of the repository; without a NUL at its end */
	size_t path_len;
	const char *client; /* numeric address; "": unknown */
	const char *user;   /* "": none */
};

/*
 * Between status_slot_enter() and status_slot_leave(), the thread answers the
 * request. `is_suspect`: at the start of the request, the repository was
 * suspected of crashing workers.
 */
void status_slot_enter(struct status_slot *slot,
		       const struct status_request *request, bool is_suspect);

/*
 * Records that a child process answers the request. If the worker crashes
 * later, this request is not suspected as the cause.
 */
void status_slot_hand_over(struct status_slot *slot);
void status_slot_leave(struct status_slot *slot);

/*
 * Between status_send_begin() and status_send_end(), the loop of the worker
 * sends the answer to a request that began at `begin_ns` (sys_clock_ns()). A
 * thread has made the answer. status_send_begin() returns a slot that shows the
 * request, or NULL if all STATUS_SENDS_MAX slots are in use.
 * status_send_end() gives the slot back; NULL is allowed. Both functions take
 * constant time. Only the loop calls them.
 */
struct status_slot *status_send_begin(struct status_board *board,
				      const struct status_request *request,
				      uint64_t begin_ns);
void status_send_end(struct status_board *board, struct status_slot *slot);

/*
 * Calls `fn` for each request that a thread answered when the worker crashed,
 * with the path and `is_suspect` of status_slot_enter(). The worker must have
 * ended.
 */
void status_board_each(const struct status_board *board,
		       void (*fn)(void *ctx, const char *path, bool is_suspect),
		       void *ctx);

/* A number that a worker shows on its board. */
enum status_gauge {
	STATUS_GAUGE_CONNECTIONS,
	/* answers that the loop sends */
	STATUS_GAUGE_SENDING,
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
	unsigned requests; /* slots of threads in use */
	uint64_t gauges[STATUS_GAUGE_NR];
};

/* A copy of a slot in use. */
struct status_slot_view {
	char path[STATUS_PATH_MAX];
	char client[SYS_ADDRESS_MAX]; /* "": unknown */
	char user[STATUS_USER_MAX];   /* "": none */
	uint64_t begin_ns;            /* sys_clock_ns() */
	/* true: the loop sends the answer; false: a thread has the request */
	bool is_sending;
};

/*
 * Copies the boards in use (one for each worker) to `views`, and the first
 * `slot_max` slots in use to `slots`: one for each request that a thread
 * answers, and one for each answer that the loop sends. Returns the number of
 * boards. *slot_nr becomes the number of copied slots. A slot that changes
 * meanwhile is left out.
 */
size_t status_boards_view(const struct status_boards *boards,
			  struct status_board_view views[STATUS_BOARDS_MAX],
			  struct status_slot_view *slots, size_t slot_max,
			  size_t *slot_nr);

#endif
