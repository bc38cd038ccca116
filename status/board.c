/* SPDX-License-Identifier: MIT */
/* Memory that the master shares with the workers. */
#include <stdatomic.h>
#include <string.h>

#include "status/board.h"
#include "sys/clock.h"
#include "sys/process.h"

struct status_slot {
	/* odd while a request runs; even: the fields below are not valid */
	atomic_uint turn;
	bool is_suspect;
	/*
	 * true: a child process answers the request, so a crash of the worker
	 * is not blamed on the request
	 */
	atomic_bool is_handed_over;
	/* for a free slot in `sends`, see struct status_board */
	unsigned next_free;
	uint64_t begin_ns;
	char client[SYS_ADDRESS_MAX];
	char user[STATUS_USER_MAX];
	char path[STATUS_PATH_MAX];
};

struct status_board {
	atomic_bool is_taken;
	unsigned slot_nr;
	atomic_bool is_ready;
	atomic_long pid;
	_Atomic uint64_t gauges[STATUS_GAUGE_NR];
	struct status_slot slots[STATUS_SLOTS_MAX];
	/*
	 * The slots for answers that the loop sends. Slots [send_nr, ...) were
	 * never used. `free_send` is the first of the free slots below send_nr,
	 * and next_free is the next one: indexes plus 1; 0: none.
	 */
	struct status_slot sends[STATUS_SENDS_MAX];
	atomic_uint send_nr;
	unsigned free_send;
};

struct status_boards {
	struct status_board boards[STATUS_BOARDS_MAX];
};

struct status_boards *status_boards_new(struct error *err)
{
	struct status_boards *boards = sys_memory_shared(sizeof(*boards));

	if (!boards)
		error_nomem(err);
	return boards;
}

void status_boards_free(struct status_boards *boards)
{
	if (boards)
		sys_memory_unshare(boards, sizeof(*boards));
}

struct status_board *status_board_take(struct status_boards *boards,
				       unsigned slot_nr)
{
	struct status_board *board = boards->boards;

	while (atomic_load(&board->is_taken))
		if (++board == boards->boards + STATUS_BOARDS_MAX)
			return NULL;
	/*
	 * Do not write to slots that were never used: their pages take up no
	 * memory.
	 */
	memset(board->slots, 0, board->slot_nr * sizeof(board->slots[0]));
	memset(board->sends, 0,
	       atomic_load(&board->send_nr) * sizeof(board->sends[0]));
	atomic_store(&board->send_nr, 0);
	board->free_send = 0;
	board->slot_nr = slot_nr < STATUS_SLOTS_MAX ? slot_nr
						    : STATUS_SLOTS_MAX;
	atomic_store(&board->is_ready, false);
	atomic_store(&board->pid, 0);
	for (int i = 0; i < STATUS_GAUGE_NR; i++)
		atomic_store(&board->gauges[i], 0);
	atomic_store(&board->is_taken, true);
	return board;
}

void status_board_give_back(struct status_board *board)
{
	atomic_store(&board->is_taken, false);
}

void status_board_set_ready(struct status_board *board)
{
	atomic_store(&board->pid, sys_process_id());
	atomic_store(&board->is_ready, true);
}

bool status_board_is_ready(const struct status_board *board)
{
	return atomic_load(&board->is_ready);
}

void status_board_set(struct status_board *board, enum status_gauge gauge,
		      uint64_t number)
{
	atomic_store_explicit(&board->gauges[gauge], number,
			      memory_order_relaxed);
}

struct status_slot *status_board_slot(struct status_board *board, unsigned nr)
{
	return &board->slots[nr];
}

/* Copy a text of `len` bytes, or as much of it as fits. */
static void copy_text(char *out, size_t size, const char *text, size_t len)
{
	if (len >= size)
		len = size - 1;
	memcpy(out, text, len);
	out[len] = '\0';
}

/* Shows a request in a slot that is not in use. */
static void enter(struct status_slot *slot, const struct status_request *r,
		  uint64_t begin_ns)
{
	copy_text(slot->path, sizeof(slot->path), r->path, r->path_len);
	copy_text(slot->client, sizeof(slot->client), r->client,
		  strlen(r->client));
	copy_text(slot->user, sizeof(slot->user), r->user, strlen(r->user));
	slot->begin_ns = begin_ns;
	atomic_fetch_add(&slot->turn, 1);
}

void status_slot_enter(struct status_slot *slot,
		       const struct status_request *request, bool is_suspect)
{
	slot->is_suspect = is_suspect;
	atomic_store(&slot->is_handed_over, false);
	enter(slot, request, sys_clock_ns());
}

void status_slot_hand_over(struct status_slot *slot)
{
	atomic_store(&slot->is_handed_over, true);
}

void status_slot_leave(struct status_slot *slot)
{
	atomic_fetch_add(&slot->turn, 1);
}

struct status_slot *status_send_begin(struct status_board *board,
				      const struct status_request *request,
				      uint64_t begin_ns)
{
	unsigned nr = atomic_load(&board->send_nr);
	struct status_slot *slot;

	if (board->free_send) {
		slot = &board->sends[board->free_send - 1];
		board->free_send = slot->next_free;
	} else if (nr < STATUS_SENDS_MAX) {
		slot = &board->sends[nr];
		atomic_store(&board->send_nr, nr + 1);
	} else {
		return NULL;
	}
	enter(slot, request, begin_ns);
	return slot;
}

void status_send_end(struct status_board *board, struct status_slot *slot)
{
	if (!slot)
		return;
	status_slot_leave(slot);
	slot->next_free = board->free_send;
	board->free_send = (unsigned)(slot - board->sends) + 1;
}

static bool is_busy(const struct status_slot *slot)
{
	return atomic_load(&slot->turn) & 1;
}

void status_board_each(const struct status_board *board,
		       void (*fn)(void *ctx, const char *path, bool is_suspect),
		       void *ctx)
{
	for (unsigned i = 0; i < board->slot_nr; i++)
		if (is_busy(&board->slots[i]) &&
		    !atomic_load(&board->slots[i].is_handed_over))
			fn(ctx, board->slots[i].path,
			   board->slots[i].is_suspect);
}

/*
 * Copies the slot of a request to *out. Returns whether the request ran during
 * the whole copy. If not, *out must not be used.
 */
static bool copy_slot(struct status_slot_view *out,
		      const struct status_slot *slot)
{
	unsigned turn = atomic_load(&slot->turn);

	if (!(turn & 1))
		return false;
	memcpy(out->path, slot->path, sizeof(out->path));
	memcpy(out->client, slot->client, sizeof(out->client));
	memcpy(out->user, slot->user, sizeof(out->user));
	out->begin_ns = slot->begin_ns;
	return atomic_load(&slot->turn) == turn;
}

/*
 * Copies the slots in use, `max` at most. Returns the number of copied slots.
 */
static size_t copy_slots(struct status_slot_view *out, size_t max,
			 const struct status_slot *slots, unsigned slot_nr,
			 bool is_sending)
{
	size_t nr = 0;

	for (unsigned i = 0; i < slot_nr && nr < max; i++) {
		out[nr].is_sending = is_sending;
		nr += copy_slot(&out[nr], &slots[i]);
	}
	return nr;
}

static void view_board(struct status_board_view *view,
		       const struct status_board *b)
{
	view->pid = atomic_load(&b->is_ready) ? atomic_load(&b->pid) : 0;
	view->requests = 0;
	for (unsigned i = 0; i < b->slot_nr; i++)
		view->requests += is_busy(&b->slots[i]);
	for (int i = 0; i < STATUS_GAUGE_NR; i++)
		view->gauges[i] = atomic_load(&b->gauges[i]);
}

size_t status_boards_view(const struct status_boards *boards,
			  struct status_board_view views[STATUS_BOARDS_MAX],
			  struct status_slot_view *slots, size_t slot_max,
			  size_t *slot_nr)
{
	size_t nr = 0, n = 0;

	for (size_t i = 0; i < STATUS_BOARDS_MAX; i++) {
		const struct status_board *b = &boards->boards[i];

		if (!atomic_load(&b->is_taken))
			continue;
		view_board(&views[nr++], b);
		n += copy_slots(slots + n, slot_max - n, b->slots, b->slot_nr,
				false);
		n += copy_slots(slots + n, slot_max - n, b->sends,
				atomic_load(&b->send_nr), true);
	}
	*slot_nr = n;
	return nr;
}
