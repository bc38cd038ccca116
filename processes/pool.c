/* SPDX-License-Identifier: MIT */
/*
 * The threads of a worker. The loop puts connections with a complete head into
 * the lanes of their clients (daemon/lanes.h). Threads take connections from
 * the lanes, answer, and give the connections back to the loop.
 *
 * The thread that has slept for the shortest time gets the next request: its
 * stack, its memory and its code are still in the caches of the processor.
 *
 * After an answer, a connection usually waits for its next request. The thread
 * then does not wake the loop. The thread itself tells epoll to report the next
 * bytes of the connection. The loop learns of the connection when it wakes for
 * another reason: before it handles events, it calls daemon_pool_take_back()
 * and puts the connection into its list of idle connections.
 */
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/mem.h"
#include "daemon/daemon-parts.h"
#include "daemon/lanes.h"
#include "daemon/stream.h"
#include "processes/processes-parts.h"
#include "sys/clock.h"
#include "sys/event.h"
#include "sys/process.h"
#include "sys/tcp.h"
#include "sys/thread.h"

/*
 * key of the requests that a thread only has to refuse (conn->is_excess); they
 * wait in a lane of their own
 */
#define EXCESS 1

#define MS_NS UINT64_C(1000000)

/*
 * If a client has no thread, and has waited STARVE_NS for one, a connection of
 * another client may be cut. Only a stalled connection is cut: it occupies a
 * thread, and its client has neither sent nor accepted a byte for STALL_NS. At
 * most one connection is cut in CUT_NS.
 */
#define STARVE_NS (3000 * MS_NS)
#define STALL_NS (5000 * MS_NS)
#define CUT_NS (50 * MS_NS)

/* A thread that answers requests. */
struct thread {
	struct daemon_pool *pool; /* borrowed */
	pthread_t id;
	struct status_slot *slot; /* of the board */
	bool is_joinable;         /* used only by the loop */
	pthread_cond_t wake;
	/* The fields below are guarded by pool->lock. */
	struct thread *below; /* in pool->sleepers */
	bool is_asleep;       /* in pool->sleepers */
	bool is_tired;        /* see give_back() */
	/* the connection that the thread answers; NULL: none */
	struct daemon_conn *conn;
};

struct daemon_pool {
	struct daemon_pool_setup setup;
	/* owned array of thread_nr threads */
	struct thread *threads;
	unsigned thread_nr;
	atomic_uint lost_pushes; /* see struct daemon_conn */
	pthread_mutex_t lock;
	/* The fields below are guarded by `lock`. */
	struct lanes *lanes; /* owned */
	/* stack of threads without work */
	struct thread *sleepers;
	/*
	 * borrowed, linked by `next`: connections that the loop must take back
	 */
	struct daemon_conn *done;
	/* the loop was woken for the connections in `done` */
	bool is_loop_woken;
	unsigned tired_nr; /* threads to replace */
	bool is_over;
	/* when daemon_pool_relieve() last cut a connection; used by the loop */
	uint64_t cut_ns;
};

/* ---- sleeping; these functions need pool->lock */

static void fall_asleep(struct thread *t)
{
	if (t->is_asleep)
		return;
	t->is_asleep = true;
	t->below = t->pool->sleepers;
	t->pool->sleepers = t;
}

/*
 * Removes a thread from the stack of sleeping threads, unless rouse() has
 * already removed it.
 */
static void wake_up(struct thread *t)
{
	struct thread **at = &t->pool->sleepers;

	if (!t->is_asleep)
		return;
	while (*at != t)
		at = &(*at)->below;
	*at = t->below;
	t->is_asleep = false;
}

/*
 * Takes the thread that fell asleep last off the stack, for signal_thread().
 * Returns NULL if no thread sleeps.
 */
static struct thread *rouse(struct daemon_pool *pool)
{
	struct thread *t = pool->sleepers;

	if (t)
		wake_up(t);
	return t;
}

/*
 * Wakes a thread; NULL is allowed. Call this function after releasing
 * pool->lock. Otherwise the thread would wake up only to wait for the lock.
 */
static void signal_thread(struct thread *t)
{
	if (t)
		pthread_cond_signal(&t->wake);
}

/* ---- threads */

static struct daemon_conn *conn_of(struct lane_item *item)
{
	return item ? (struct daemon_conn *)((char *)item -
					     offsetof(struct daemon_conn, lane))
		    : NULL;
}

static struct daemon_conn *take(struct thread *t)
{
	struct daemon_pool *pool = t->pool;
	struct thread *other = NULL;
	struct lane_item *item;

	pthread_mutex_lock(&pool->lock);
	while (!(item = lanes_take(pool->lanes)) && !pool->is_over) {
		fall_asleep(t);
		pthread_cond_wait(&t->wake, &pool->lock);
	}
	wake_up(t);
	/*
	 * The end of one request may allow two waiting requests to start. So
	 * wake another thread for the second one.
	 */
	if (item && lanes_has_ready(pool->lanes))
		other = rouse(pool);
	t->conn = conn_of(item);
	pthread_mutex_unlock(&pool->lock);
	signal_thread(other);
	return conn_of(item);
}

/*
 * Returns whether a connection has nothing to do but to wait for the first byte
 * of the next request or command.
 */
static bool is_idle(const struct daemon_conn *conn)
{
	return (conn->after == DAEMON_IDLE || conn->after == DAEMON_WAITING) &&
	       !conn->unsent && (!conn->input || !conn->input->len) &&
	       !daemon_stream_has_bytes(&conn->stream);
}

/*
 * Gives a connection back to the loop. `is_tired`: after expensive work, the
 * thread cannot get its usual priority back. So the thread ends, and the loop
 * starts another one.
 */
static void give_back(struct thread *t, struct daemon_conn *conn, bool is_tired)
{
	struct daemon_pool *pool = t->pool;
	const struct daemon_pool_setup *setup = &pool->setup;
	bool wakes;

	pthread_mutex_lock(&pool->lock);
	t->conn = NULL;
	t->is_tired = is_tired;
	pool->tired_nr += is_tired;
	lanes_done(pool->lanes, conn->lane.key);
	/*
	 * From sys_event_again() on, epoll may report the next request of the
	 * connection to the main loop. The loop then looks for the connection
	 * in the list pool->done, and needs pool->lock for this. This thread
	 * holds the lock until the connection is in the list. So the loop
	 * always finds the connection.
	 */
	conn->is_armed = is_idle(conn) &&
			 !sys_event_again(setup->events, daemon_input_fd(conn),
					  conn, NULL);
	conn->next = pool->done;
	pool->done = conn;
	wakes = (!conn->is_armed || is_tired) && !pool->is_loop_woken;
	pool->is_loop_woken |= wakes;
	pthread_mutex_unlock(&pool->lock);
	if (wakes)
		sys_event_wake(setup->alarm);
}

static void *run_thread(void *ctx)
{
	struct thread *t = ctx;
	const struct daemon_pool_setup *setup = &t->pool->setup;
	const struct daemon_options *o = setup->options;
	struct daemon_conn *conn;
	bool is_tired = false;

	while (!is_tired && (conn = take(t))) {
		conn->slot = t->slot;
		conn->shared = setup->shared;
		conn->helper = setup->helper;
		conn->lost_pushes = &t->pool->lost_pushes;
		conn->snapshots = setup->snapshots;
		conn->plans = setup->plans;
		conn->copies = setup->copies;
		if (conn->protocol == DAEMON_GIT)
			daemon_serve_git(o, conn);
		else if (conn->protocol == DAEMON_SSH)
			daemon_serve_ssh(o, conn);
		else
			daemon_serve(o, conn);
		is_tired = !sys_thread_set_nice(o->nice);
		give_back(t, conn, is_tired);
	}
	return NULL;
}

static int start_thread(struct thread *t)
{
	int code = sys_thread_start(&t->id, run_thread, t);

	t->is_joinable = !code;
	return code;
}

void daemon_pool_replace(struct daemon_pool *pool)
{
	unsigned tired_nr;

	pthread_mutex_lock(&pool->lock);
	tired_nr = pool->tired_nr;
	pthread_mutex_unlock(&pool->lock);
	for (unsigned i = 0; tired_nr && i < pool->thread_nr; i++) {
		struct thread *t = &pool->threads[i];

		pthread_mutex_lock(&pool->lock);
		if (t->is_tired) {
			/*
			 * Waiting for this thread with the lock held is safe:
			 * it does not take the lock any more.
			 */
			if (t->is_joinable)
				sys_thread_join(t->id);
			t->is_tired = start_thread(t) != 0;
			pool->tired_nr -= !t->is_tired;
		}
		pthread_mutex_unlock(&pool->lock);
	}
}

/* ---- for the loop */

void daemon_pool_put(struct daemon_pool *pool, struct daemon_conn *conn)
{
	const struct daemon_options *o = pool->setup.options;
	unsigned max = o->admission.limits.principal_max;
	struct thread *t;

	/*
	 * A client that has begun a conversation over git:// or ssh stays in
	 * its lane (its waiting line), and is not refused.
	 */
	if (!conn->talk)
		conn->lane.key = daemon_lane_key(o, conn);
	pthread_mutex_lock(&pool->lock);
	conn->is_excess = !conn->talk && daemon_may_refuse(conn) &&
			  lanes_waiting(pool->lanes, conn->lane.key) >= max;
	if (conn->is_excess)
		conn->lane.key = EXCESS;
	conn->lane.since_ns = sys_clock_ns();
	lanes_put(pool->lanes, &conn->lane);
	t = rouse(pool);
	pthread_mutex_unlock(&pool->lock);
	signal_thread(t);
}

struct daemon_conn *daemon_pool_take_back(struct daemon_pool *pool)
{
	struct daemon_conn *conns;

	pthread_mutex_lock(&pool->lock);
	conns = pool->done;
	pool->done = NULL;
	pool->is_loop_woken = false;
	pthread_mutex_unlock(&pool->lock);
	return conns;
}

/* ---- stalled clients */

/* Returns whether the client has neither sent nor accepted a byte for long. */
static bool is_stalled(const struct daemon_conn *conn, uint64_t now)
{
	uint64_t since = atomic_load(&conn->stalled_ns);

	return since && now > since + STALL_NS;
}

/*
 * Returns a stalled connection of the client that uses most threads, or NULL if
 * no client with a stalled connection uses more than its share. A connection of
 * ssh is never returned: ssh has verified its user, and pipes cannot be cut.
 * The caller holds pool->lock.
 */
static struct daemon_conn *find_stalled(const struct daemon_pool *pool,
					uint64_t now)
{
	struct daemon_conn *found = NULL;
	unsigned most = 0;

	for (unsigned i = 0; i < pool->thread_nr; i++) {
		struct daemon_conn *conn = pool->threads[i].conn;
		unsigned nr;

		if (!conn || conn->protocol == DAEMON_SSH ||
		    !is_stalled(conn, now))
			continue;
		nr = lanes_excess(pool->lanes, conn->lane.key);
		if (nr <= most)
			continue;
		most = nr;
		found = conn;
	}
	return found;
}

void daemon_pool_relieve(struct daemon_pool *pool, uint64_t now)
{
	struct daemon_conn *conn = NULL;

	if (now < STARVE_NS || now - pool->cut_ns < CUT_NS)
		return;
	pthread_mutex_lock(&pool->lock);
	if (lanes_starve(pool->lanes, now - STARVE_NS))
		conn = find_stalled(pool, now);
	/*
	 * The connection stays open until it is cut. Its thread cannot give it
	 * back while the lock is held. Only the loop closes connections, and
	 * the loop runs this function.
	 */
	if (conn)
		sys_socket_cut(conn->stream.fd);
	pthread_mutex_unlock(&pool->lock);
	if (!conn)
		return;
	pool->cut_ns = now;
	daemon_log(pool->setup.options, conn,
		   "closed a stalled connection, because another client waits "
		   "for its thread");
}

/* ---- start and end */

static int start_threads(struct daemon_pool *pool, struct error *err)
{
	unsigned nr = pool->setup.options->thread_nr;

	while (pool->thread_nr < nr) {
		struct thread *t = &pool->threads[pool->thread_nr];

		t->pool = pool;
		t->slot = status_board_slot(pool->setup.board, pool->thread_nr);
		pthread_cond_init(&t->wake, NULL);
		errno = start_thread(t);
		if (errno)
			return error_set_errno(err, "cannot start a thread");
		pool->thread_nr++;
	}
	return 0;
}

size_t daemon_pool_fds(unsigned thread_nr)
{
	return 64 + (size_t)thread_nr * 16;
}

int daemon_pool_fd_end(unsigned thread_nr)
{
	size_t max = sys_descriptors_raise(0);
	size_t spare = daemon_pool_fds(thread_nr);

	max = max && max < INT_MAX ? max : INT_MAX;
	return (int)(spare < max / 2 ? max - spare : max - max / 2);
}

int daemon_pool_start(struct daemon_pool **out,
		      const struct daemon_pool_setup *setup, struct error *err)
{
	struct daemon_pool *pool = mem_calloc(1, sizeof(*pool));
	unsigned nr = setup->options->thread_nr;
	int ret;

	if (!pool)
		return error_nomem(err);
	pthread_mutex_init(&pool->lock, NULL);
	pool->setup = *setup;
	pool->threads = mem_calloc(nr, sizeof(*pool->threads));
	pool->lanes = lanes_new(nr);
	ret = pool->threads && pool->lanes ? start_threads(pool, err)
					   : error_nomem(err);
	if (ret < 0)
		daemon_pool_end(pool);
	else
		*out = pool;
	return ret;
}

void daemon_pool_end(struct daemon_pool *pool)
{
	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->is_over = true;
	pthread_mutex_unlock(&pool->lock);
	for (unsigned i = 0; i < pool->thread_nr; i++) {
		struct thread *t = &pool->threads[i];

		pthread_cond_signal(&t->wake);
		if (t->is_joinable)
			sys_thread_join(t->id);
		pthread_cond_destroy(&t->wake);
	}
	lanes_free(pool->lanes);
	free(pool->threads);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}
