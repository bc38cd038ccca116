/* SPDX-License-Identifier: MIT */
/*
 * Admission to expensive work, for the threads of several processes. The queue
 * of admission/queue.h is in shared memory. A token is the permission for one
 * thread to work on an expensive request. If the CPUs or the memory of the
 * machine are under pressure, there are fewer tokens. The number of connections
 * is limited, too. Knows nothing of sockets, HTTP or Git.
 *
 * The memory is made before the processes are forked. When a process has ended
 * in any way, its parent calls admission_forget(). If a process dies while it
 * holds the lock, the next owner of the lock repairs the queue.
 *
 * All functions may be called by several threads.
 */
#ifndef ADMISSION_ADMISSION_H
#define ADMISSION_ADMISSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "admission/queue.h"
#include "base/error.h"

struct admission;

struct admission_options {
	struct admission_limits limits;
	unsigned connection_max; /* maximum, for all processes */
	/* maximum number of connections of one address */
	unsigned address_max;
};

/*
 * Returns an admission in memory that child processes share. It has no tickets
 * yet. (Each request that waits for admission or works has a ticket, see
 * admission/queue.h.) Returns NULL with *err set after an error.
 */
struct admission *admission_new(const struct admission_options *options,
				struct error *err);

/*
 * Releases the shared memory in this process; other processes still have it.
 * NULL is allowed.
 */
void admission_free(struct admission *a);

/* Changes the limits, for all processes. */
void admission_configure(struct admission *a,
			 const struct admission_options *options);

/* ---- work */

/*
 * Permission to work, for one request. A pass refers to a ticket: the place of
 * the request in the queue. While the request works, the ticket holds tokens,
 * one for each thread that may work.
 */
struct admission_pass {
	/* borrowed; NULL: there is no ticket */
	struct admission *a;
	int nr;
	/* number of threads that may work; at least 1 */
	unsigned tokens;
	uint64_t waited_ns; /* before the work began */
	uint64_t price_us;  /* sum of the prices */
};

/* Gets messages while a request waits for admission. */
struct admission_listener {
	/*
	 * Called when the wait takes more than a moment, and then each second.
	 * `ahead`: about how many requests will be served before this request.
	 * Returns 0. A negative result ends the wait, and becomes the result of
	 * admission_enter().
	 */
	int (*tell)(void *ctx, unsigned ahead, struct error *err);
	void *ctx;
};

/*
 * Waits for permission to work. Fills in ask->process. Returns 0 with *pass for
 * admission_leave(). If the table of tickets is full, returns 0 at once: *pass
 * has no ticket, and the request may work with one thread.
 *
 * Returns ERR_DENIED if the wait was too long, or the negative result of the
 * callback tell(). In both cases *pass has no ticket.
 */
int admission_enter(struct admission_pass *pass, struct admission *a,
		    struct admission_ask *ask,
		    const struct admission_listener *listener,
		    struct error *err);

/*
 * Must be called when the work has ended: gives the ticket back. Does nothing
 * without a ticket.
 */
void admission_leave(struct admission_pass *pass);

/*
 * Adds `price_us` to the price of work that turns out to cost more than was
 * estimated. Never waits.
 */
void admission_raise(struct admission_pass *pass, uint64_t price_us);

/*
 * admission_pause() gives back the tokens of a request while the request waits
 * for its client. admission_resume() waits for new tokens. Both functions do
 * nothing if the pass has no ticket. admission_pause() also does nothing if the
 * ticket is waiting in the queue. admission_resume() also does nothing if the
 * request is working, because it was not paused. Only the thread that has
 * called admission_enter() for this pass may call these functions.
 */
void admission_pause(struct admission_pass *pass);
void admission_resume(struct admission_pass *pass);

/*
 * Must be called often while the request works. If other requests should run
 * first, waits until this request has its next turn. Several threads of a
 * request may call this function. Costs some nanoseconds if nobody waits.
 */
void admission_yield(struct admission_pass *pass);

/* Returns whether any ticket waits that is not a push. Takes no lock. */
bool admission_has_queue(const struct admission *a);

/*
 * Returns ADMISSION_NO_REFUSAL if a request may wait now. Otherwise returns the
 * reason: too many fetches of its fork network, too many pushes to its
 * repository, or too many requests of its user or address (principal) are
 * waiting. The refusal is counted.
 */
enum admission_refusal admission_judge(struct admission *a,
				       const struct admission_ask *ask);

/* ---- connections */

/*
 * Counts a connection of this process. Returns ADMISSION_NO_REFUSAL, or the
 * reason if there are too many connections; then the connection is not counted.
 * `is_trusted`: the limit of one address does not apply.
 */
enum admission_refusal admission_connect(struct admission *a,
					 const char *address, bool is_trusted);
void admission_disconnect(struct admission *a, const char *address);

/* Counts a refusal that the caller has decided. */
void admission_refused(struct admission *a, enum admission_refusal why);

/* ---- functions for the parent process and for the status */

/* Gives back the tickets and connections of a process that has ended. */
void admission_forget(struct admission *a, long process);

/* The number of tickets of one principal (a user or an address). */
struct admission_line {
	char name[ADMISSION_NAME_MAX];
	/*
	 * numbers of tickets; `running` includes those that need no token
	 * (express) or hold none at present (paused)
	 */
	unsigned waiting, running;
};

#define ADMISSION_LINES_MAX 50

/* A copy of the numbers of a struct admission, for the status page. */
struct admission_view {
	unsigned token_nr, tokens_held, waiting, connections;
	uint64_t refused[ADMISSION_REFUSALS];
	/*
	 * one line for each user or address (principal) with tickets; those
	 * that do not fit into the array are left out
	 */
	struct admission_line lines[ADMISSION_LINES_MAX];
	size_t line_nr;
};

void admission_look(struct admission_view *out, struct admission *a);

/*
 * Computes how many requests may work at once: the number of tokens. It depends
 * on the pressure that the kernel reports (/proc/pressure, "pressure stall
 * information"): the share of time in which tasks wait for a resource. The
 * number of tokens grows by one at a time, and is halved under pressure, like
 * the congestion window of TCP.
 */

/* Seconds between two readings of the pressure. */
#define ADMISSION_PRESSURE_INTERVAL 5

/*
 * The server is under pressure if some task had to wait for more than this
 * share of the last 10 seconds. The unit is a hundredth of a percent. On a
 * server with much work, some task nearly always waits for a processor, so the
 * limit for the processors is high. Tasks wait for memory only if there is too
 * little of it, so the limit for memory is low.
 */
#define ADMISSION_PRESSURE_CPU 9000
#define ADMISSION_PRESSURE_MEMORY 1000

/*
 * Parses the text of a file in /proc/pressure. Returns the field avg10 of the
 * line "some" in hundredths of a percent, or -1 if the text has no such field.
 */
int admission_pressure_parse(const char *text, size_t len);

/*
 * Returns how many tokens there are from now on, between 1 and `max`. A token
 * is the permission for one thread to work on an expensive request. `token_nr`
 * is the number of tokens so far. `cpu` and `memory` are results of
 * admission_pressure_parse(): the pressure in hundredths of a percent, or -1 if
 * the pressure is unknown. An unknown pressure counts as no pressure.
 */
unsigned admission_pressure_adjust(unsigned token_nr, unsigned max, int cpu,
				   int memory);

#endif
