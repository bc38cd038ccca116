/* SPDX-License-Identifier: MIT */
/*
 * The loop of a worker process. One thread waits for all sockets, and reads the
 * heads of requests: for git://, the first pkt-line. A complete head puts the
 * connection into a queue, from which threads take connections and answer. A
 * thread gives the connection back to the loop.
 *
 *	accept -> IDLE -> HEAD -> queue -> BUSY -> done -> IDLE or LINGER
 *
 * The loop alone changes the lists of connections. The queue and the list
 * `done` are shared with the threads under `lock`.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "daemon/daemon-parts.h"
#include "daemon/git-request.h"
#include "sys/clock.h"
#include "sys/event.h"
#include "sys/io.h"
#include "sys/thread.h"

#define SECOND_NS UINT64_C(1000000000)
#define EVENTS 64

/* seconds to wait for a client's end after the last answer */
#define LINGER_TIMEOUT 2

/* open repositories, and seconds without a request until one is closed */
#define SNAPSHOTS_MAX 64
#define SNAPSHOT_TIMEOUT 30

struct worker {
	const struct daemon_options *options;
	struct daemon_board *board;       /* borrowed */
	struct daemon_suspects *suspects; /* borrowed */
	int events, signals, alarm;       /* owned descriptors */
	/* the ends of each list: the connections in order of their deadlines */
	struct daemon_conn lists[DAEMON_STATES];
	unsigned conn_nr;
	bool is_draining;
	struct daemon_snapshots *snapshots; /* owned */
	pthread_t *threads;
	unsigned thread_nr;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	/* under `lock`: single lists by `next` */
	struct daemon_conn *queue, **queue_end, *done;
	unsigned slot_nr; /* slots of the board that threads have taken */
	bool is_over;
};

/* ---- lists */

static void unlist(struct daemon_conn *conn)
{
	conn->prev->next = conn->next;
	conn->next->prev = conn->prev;
}

static void enlist(struct worker *w, struct daemon_conn *conn,
		   enum daemon_state state)
{
	const struct daemon_options *o = w->options;
	const unsigned seconds[] = {o->idle_timeout, o->head_timeout,
				    LINGER_TIMEOUT, 0};
	struct daemon_conn *end = &w->lists[state];

	conn->state = state;
	conn->deadline_ns = sys_clock_ns() + seconds[state] * SECOND_NS;
	conn->prev = end->prev;
	conn->next = end;
	end->prev->next = conn;
	end->prev = conn;
}

/* Close a connection that is in no list. */
static void drop(struct worker *w, struct daemon_conn *conn)
{
	sys_close(conn->fd);
	free(conn->input);
	free(conn);
	w->conn_nr--;
}

/* ---- threads */

static struct daemon_conn *take(struct worker *w)
{
	struct daemon_conn *conn;

	pthread_mutex_lock(&w->lock);
	while (!w->queue && !w->is_over)
		pthread_cond_wait(&w->wake, &w->lock);
	conn = w->queue;
	if (conn) {
		w->queue = conn->next;
		if (!w->queue)
			w->queue_end = &w->queue;
	}
	pthread_mutex_unlock(&w->lock);
	return conn;
}

static void give_back(struct worker *w, struct daemon_conn *conn)
{
	bool was_empty;

	pthread_mutex_lock(&w->lock);
	was_empty = !w->done;
	conn->next = w->done;
	w->done = conn;
	pthread_mutex_unlock(&w->lock);
	if (was_empty)
		sys_event_wake(w->alarm);
}

static void *run_thread(void *ctx)
{
	struct worker *w = ctx;
	struct daemon_conn *conn;
	struct daemon_slot *slot;

	pthread_mutex_lock(&w->lock);
	slot = daemon_board_slot(w->board, w->slot_nr++);
	pthread_mutex_unlock(&w->lock);
	while ((conn = take(w))) {
		conn->slot = slot;
		conn->suspects = w->suspects;
		if (conn->protocol == DAEMON_GIT)
			daemon_serve_git(w->options, conn);
		else if (conn->protocol == DAEMON_SSH)
			daemon_serve_ssh(w->options, conn);
		else
			daemon_serve(w->options, w->snapshots, conn);
		give_back(w, conn);
	}
	return NULL;
}

static void enqueue(struct worker *w, struct daemon_conn *conn)
{
	conn->state = DAEMON_BUSY;
	conn->is_last = w->is_draining;
	conn->next = NULL;
	pthread_mutex_lock(&w->lock);
	*w->queue_end = conn;
	w->queue_end = &conn->next;
	pthread_mutex_unlock(&w->lock);
	/* A thread that woke up under the lock would wait for the lock. */
	pthread_cond_signal(&w->wake);
}

/* ---- the loop */

/* Returns whether the head of a request is complete, or is refused. */
static bool is_complete(struct daemon_conn *conn)
{
	struct daemon_input *in = conn->input;

	if (!in || !in->len)
		return false;
	if (conn->protocol == DAEMON_GIT)
		return !git_request_missing(in->bytes, in->len);
	return http1_head_parse(&in->head, &daemon_limits, in->bytes,
				in->len) != 0;
}

/*
 * Parse the bytes that have arrived. If the head of a request is complete, a
 * thread gets the connection; otherwise the loop keeps the connection. The
 * connection is in no list.
 */
static void advance(struct worker *w, struct daemon_conn *conn,
		    uint64_t deadline_ns)
{
	struct daemon_input *in = conn->input;

	if (is_complete(conn)) {
		enqueue(w, conn);
		return;
	}
	if (in && !in->len) {
		free(in);
		conn->input = NULL;
	}
	if (w->is_draining && !conn->input) {
		drop(w, conn);
		return;
	}
	enlist(w, conn, conn->input ? DAEMON_HEAD : DAEMON_IDLE);
	/* The time of a head counts from its first byte. */
	if (deadline_ns)
		conn->deadline_ns = deadline_ns;
	if (sys_event_again(w->events, conn->fd, conn, NULL) < 0) {
		unlist(conn);
		drop(w, conn);
	}
}

/* Read and forget what a client still sends after our last answer. */
static void linger(struct worker *w, struct daemon_conn *conn)
{
	char bytes[4096];

	if (sys_socket_try_read(conn->fd, bytes, sizeof(bytes)) >= 0 &&
	    !sys_event_again(w->events, conn->fd, conn, NULL))
		return;
	unlist(conn);
	drop(w, conn);
}

static bool give_input(struct daemon_conn *conn)
{
	if (conn->input)
		return true;
	conn->input = mem_alloc(1, sizeof(*conn->input));
	if (!conn->input)
		return false;
	conn->input->len = 0;
	http1_head_init(&conn->input->head);
	return true;
}

/*
 * Returns how many bytes to read. What follows the first pkt-line of git://
 * stays in the socket, for the service.
 */
static size_t room(const struct daemon_conn *conn)
{
	const struct daemon_input *in = conn->input;

	return conn->protocol == DAEMON_GIT
		       ? git_request_missing(in->bytes, in->len)
		       : sizeof(in->bytes) - in->len;
}

static void hear(struct worker *w, struct daemon_conn *conn)
{
	struct daemon_input *in;
	ssize_t n = ERR_NOMEM;

	if (conn->state == DAEMON_LINGER) {
		linger(w, conn);
		return;
	}
	unlist(conn);
	/* A message arrives as a whole; the thread reads it. */
	if (conn->protocol == DAEMON_SSH) {
		enqueue(w, conn);
		return;
	}
	if (give_input(conn)) {
		in = conn->input;
		n = sys_socket_try_read(conn->fd, in->bytes + in->len,
					room(conn));
	}
	if (n < 0) {
		drop(w, conn);
		return;
	}
	conn->input->len += (size_t)n;
	advance(w, conn, conn->state == DAEMON_HEAD ? conn->deadline_ns : 0);
}

/* Tell a client that there are too many. Such a client gets few bytes only. */
static void turn_away(struct worker *w, struct daemon_conn *conn)
{
	static const char *const texts[] = {
		[DAEMON_HTTP] = "HTTP/1.1 503 Service Unavailable\r\n"
				"Content-Length: 0\r\n"
				"Connection: close\r\n\r\n",
		[DAEMON_GIT] = "001cERR too many connections",
		/* The forced command reports the end of the connection. */
		[DAEMON_SSH] = "",
	};
	const char *text = texts[conn->protocol];

	daemon_log(w->options, conn,
		   conn->protocol == DAEMON_HTTP
			   ? "503 Service Unavailable: too many connections"
			   : "too many connections");
	sys_socket_try_write(conn->fd, text, strlen(text));
	drop(w, conn);
}

/* Returns whether a further connection may wait. */
static bool accept_one(struct worker *w, size_t nr)
{
	const struct daemon_options *o = w->options;
	struct daemon_conn *conn = mem_calloc(1, sizeof(*conn));
	int ret = conn ? sys_socket_accept(o->listeners[nr], conn->address,
					   NULL)
		       : ERR_NOMEM;

	if (ret < 0) {
		/* Without descriptors or memory, let requests end first. */
		if (ret != ERR_MISSING)
			sys_sleep_ns(SECOND_NS / 100);
		free(conn);
		return false;
	}
	conn->fd = ret;
	conn->protocol = o->protocols ? o->protocols[nr] : DAEMON_HTTP;
	w->conn_nr++;
	if (w->conn_nr > o->connection_max) {
		turn_away(w, conn);
		return true;
	}
	/* Of git:// and ssh, the request is due at once. */
	enlist(w, conn,
	       conn->protocol == DAEMON_HTTP ? DAEMON_IDLE : DAEMON_HEAD);
	if (sys_event_add_once(w->events, conn->fd, conn, NULL) < 0) {
		unlist(conn);
		drop(w, conn);
	}
	return true;
}

static void accept_all(struct worker *w)
{
	for (size_t i = 0; i < w->options->listener_nr; i++)
		while (accept_one(w, i))
			;
}

/* Take the connections back that threads have finished with. */
static void take_back(struct worker *w)
{
	struct daemon_conn *conn, *next;

	sys_event_unwake(w->alarm);
	pthread_mutex_lock(&w->lock);
	conn = w->done;
	w->done = NULL;
	pthread_mutex_unlock(&w->lock);
	for (; conn; conn = next) {
		next = conn->next;
		if (conn->after == DAEMON_IDLE) {
			advance(w, conn, 0);
			continue;
		}
		/*
		 * If the socket were closed with unread bytes, a reset could
		 * overtake the answer.
		 */
		sys_socket_end_output(conn->fd);
		free(conn->input);
		conn->input = NULL;
		enlist(w, conn, DAEMON_LINGER);
		if (sys_event_again(w->events, conn->fd, conn, NULL) < 0) {
			unlist(conn);
			drop(w, conn);
		}
	}
}

/* Close the connections whose time is over. */
static void expire(struct worker *w, uint64_t now)
{
	for (int state = 0; state < DAEMON_BUSY; state++) {
		struct daemon_conn *end = &w->lists[state], *conn;

		while ((conn = end->next) != end && conn->deadline_ns <= now) {
			if (state == DAEMON_HEAD)
				daemon_log(w->options, conn,
					   "the request's head took too long");
			unlist(conn);
			drop(w, conn);
		}
	}
}

/* Stop accepting, and close the connections without a request. */
static void drain(struct worker *w)
{
	w->is_draining = true;
	accept_all(w);
	for (size_t i = 0; i < w->options->listener_nr; i++) {
		sys_event_remove(w->events, w->options->listeners[i]);
		sys_close(w->options->listeners[i]);
	}
	/*
	 * New connections have a second for a request that is on its way; kept
	 * connections get the same.
	 */
	for (struct daemon_conn *c = w->lists[DAEMON_IDLE].next;
	     c != &w->lists[DAEMON_IDLE]; c = c->next)
		c->deadline_ns = sys_clock_ns() + SECOND_NS;
}

static void handle(struct worker *w, void *ctx)
{
	if (ctx == &w->signals) {
		if (sys_event_signal(w->signals) == SIGTERM && !w->is_draining)
			drain(w);
	} else if (ctx == &w->alarm) {
		take_back(w);
	} else if (ctx == w) {
		if (!w->is_draining)
			accept_all(w);
	} else {
		hear(w, ctx);
	}
}

static void expire_snapshots(struct worker *w, uint64_t now)
{
	const uint64_t age = SNAPSHOT_TIMEOUT * SECOND_NS;

	if (now > age)
		daemon_snapshots_expire(w->snapshots, now - age);
}

static void loop(struct worker *w)
{
	void *ready[EVENTS];

	while (!w->is_draining || w->conn_nr) {
		size_t nr = sys_event_wait(w->events, ready, EVENTS, 250);
		uint64_t now;

		for (size_t i = 0; i < nr; i++)
			handle(w, ready[i]);
		now = sys_clock_ns();
		expire(w, now);
		expire_snapshots(w, now);
	}
}

/* ---- start and end */

static int open_events(struct worker *w, struct error *err)
{
	sigset_t set;
	int ret;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	w->events = ret = sys_event_open(err);
	if (ret >= 0)
		w->signals = ret = sys_event_signals_open(&set, err);
	if (ret >= 0)
		w->alarm = ret = sys_event_alarm_open(err);
	if (ret >= 0)
		ret = sys_event_add(w->events, w->signals, &w->signals, false,
				    err);
	if (!ret)
		ret = sys_event_add(w->events, w->alarm, &w->alarm, false, err);
	for (size_t i = 0; !ret && i < w->options->listener_nr; i++)
		ret = sys_event_add(w->events, w->options->listeners[i], w,
				    true, err);
	return ret;
}

static int start_threads(struct worker *w, struct error *err)
{
	w->threads = mem_alloc(w->options->thread_nr, sizeof(*w->threads));
	if (!w->threads)
		return error_nomem(err);
	while (w->thread_nr < w->options->thread_nr) {
		errno = sys_thread_start(&w->threads[w->thread_nr], run_thread,
					 w);
		if (errno)
			return error_set_errno(err, "cannot start a thread");
		w->thread_nr++;
	}
	return 0;
}

static void end_threads(struct worker *w)
{
	pthread_mutex_lock(&w->lock);
	w->is_over = true;
	pthread_cond_broadcast(&w->wake);
	pthread_mutex_unlock(&w->lock);
	while (w->thread_nr)
		sys_thread_join(w->threads[--w->thread_nr]);
	free(w->threads);
}

int daemon_worker(const struct daemon_options *options,
		  struct daemon_board *board, struct daemon_suspects *suspects,
		  int alarm, struct error *err)
{
	struct worker w = {.options = options,
			   .board = board,
			   .suspects = suspects,
			   .events = -1,
			   .signals = -1,
			   .alarm = -1,
			   .lock = PTHREAD_MUTEX_INITIALIZER,
			   .wake = PTHREAD_COND_INITIALIZER};
	int ret;

	for (int i = 0; i < DAEMON_STATES; i++)
		w.lists[i].next = w.lists[i].prev = &w.lists[i];
	w.queue_end = &w.queue;
	w.snapshots = daemon_snapshots_new(SNAPSHOTS_MAX);
	ret = w.snapshots ? open_events(&w, err) : error_nomem(err);
	if (!ret)
		ret = start_threads(&w, err);
	if (!ret) {
		daemon_board_set_ready(board);
		sys_event_wake(alarm);
		loop(&w);
	}
	end_threads(&w);
	daemon_snapshots_free(w.snapshots);
	sys_close(w.events);
	sys_close(w.signals);
	sys_close(w.alarm);
	return ret;
}
