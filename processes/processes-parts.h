/* SPDX-License-Identifier: MIT */
/*
 * Functions that only the files of this directory call. The files are:
 *
 *	master.c   the master
 *	worker.c   the loop of a worker: sockets, time limits, heads of requests
 *	pool.c     the threads of a worker
 *	relay.c    the relay: one process of a machine, which sends the
 *	           requests of all pushes to the store of files
 */
#ifndef PROCESSES_PROCESSES_PARTS_H
#define PROCESSES_PROCESSES_PARTS_H

#include "copies/copies.h"
#include "daemon/conn.h"
#include "status/board.h"

/* ---- worker.c */

/*
 * Serves connections until SIGTERM. When the worker is ready to serve, it
 * records this in `board`, and then wakes the master with
 * sys_event_wake(alarm). Returns 0 or a negative error code.
 */
int worker_run(const struct daemon_options *options, struct status_board *board,
	       const struct daemon_shared *shared, int alarm,
	       struct error *err);

/* ---- pool.c */

/* The setup that all threads of a worker share. All pointers are borrowed. */
struct daemon_pool_setup {
	const struct daemon_options *options;
	struct status_board *board; /* a slot for each thread */
	const struct daemon_shared *shared;
	struct daemon_snapshots *snapshots;
	struct plan_cache *plans;     /* NULL: none */
	struct access_helper *helper; /* NULL: none */
	struct stored_copies *copies; /* NULL: there is no store */
	/* the descriptor of epoll, which reports events to the loop */
	int events;
	/* wakes the loop when connections wait for daemon_pool_take_back() */
	int alarm;
};

struct daemon_pool;

/*
 * Returns how many descriptors a worker with this number of threads needs
 * besides those of its connections: for files, pipes and child processes.
 */
size_t daemon_pool_fds(unsigned thread_nr);

/*
 * Returns an upper limit for descriptors of connections: only descriptors with
 * smaller numbers may be connections. So daemon_pool_fds() descriptors are left
 * for other uses. If the system allows few descriptors, connections get half of
 * them.
 */
int daemon_pool_fd_end(unsigned thread_nr);

/*
 * Starts the threads. Returns 0 with *out for daemon_pool_end(), or a negative
 * error code.
 */
int daemon_pool_start(struct daemon_pool **out,
		      const struct daemon_pool_setup *setup, struct error *err);

/*
 * Ends the threads when they have answered their requests. NULL is allowed.
 */
void daemon_pool_end(struct daemon_pool *pool);

/*
 * Gives a connection with a complete head to a thread. Sets conn->is_excess if
 * too many requests of its client wait.
 */
void daemon_pool_put(struct daemon_pool *pool, struct daemon_conn *conn);

/*
 * Returns the connections whose threads have answered, linked by `next`, or
 * NULL. conn->request and conn->after say what the loop must do next.
 *
 * If conn->is_armed is set, the connection is idle, and the thread has told
 * epoll to report its next bytes. So an event may belong to a connection that
 * the loop has not taken back yet. Therefore, the loop must call this function
 * before it handles events.
 */
struct daemon_conn *daemon_pool_take_back(struct daemon_pool *pool);

/*
 * Replaces the threads that have lowered their priority for expensive work and
 * could not raise it again: ends them, and starts new ones. If a thread cannot
 * be started, a later call tries again.
 */
void daemon_pool_replace(struct daemon_pool *pool);

/*
 * If a client without a thread has waited for some seconds, cuts a connection
 * of a client that uses more than its share of the threads. So clients that
 * stall cannot occupy all threads. A connection is cut only if its thread waits
 * for the client: for bytes of a request, or until the client accepts bytes of
 * the answer. `now` is sys_clock_ns().
 */
void daemon_pool_relieve(struct daemon_pool *pool, uint64_t now);

/* ---- relay.c */

/*
 * Runs the relay. This process sends requests to a store of files (for example
 * a bucket) for other processes: the child processes of the workers, which
 * receive pushes. The function ends when SIGTERM has arrived and all
 * connections have ended. Returns 0 or a negative error code.
 */
int relay_run(const struct daemon_options *options, struct error *err);

#endif
