/* SPDX-License-Identifier: MIT */
/*
 * The loop of a worker process. One thread waits for all sockets, and reads the
 * heads of requests. The head of a request over git:// is the first pkt-line.
 * When a head is complete, a thread gets the connection (pool.c), answers, and
 * gives the connection back to the loop. If bytes of an answer are still
 * unsent, the loop sends them.
 *
 *	accept -> IDLE -> HEAD -> queue -> BUSY -> done -> IDLE or LINGER
 *	   '-> HANDSHAKE -> IDLE    with TLS
 *	done -> SENDING -> IDLE, LINGER or WAITING    if bytes are unsent
 *	done -> DELAY -> queue      after a wrong password
 *	done -> WAITING -> queue    between two commands over git:// or ssh
 *
 * The loop alone changes the lists of connections.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access/access.h"
#include "base/mem.h"
#include "daemon/daemon-parts.h"
#include "daemon/git-request.h"
#include "daemon/outbox.h"
#include "daemon/snapshots.h"
#include "daemon/stream.h"
#include "plans/plan-cache.h"
#include "processes/processes-parts.h"
#include "sys/clock.h"
#include "sys/event.h"
#include "sys/io.h"
#include "sys/process.h"

#define SECOND_NS UINT64_C(1000000000)
#define EVENTS 64

/* number of seconds after which a wrong password is refused */
#define DELAY 1

/*
 * seconds to wait, after the last answer, until the client closes the
 * connection
 */
#define LINGER_TIMEOUT 2

/* megabytes of an answer that the loop sends before it handles other events */
#define TURN 4

/*
 * maximum number of open repositories, and seconds without a request after
 * which a repository is closed
 */
#define SNAPSHOTS_MAX 64
#define SNAPSHOT_TIMEOUT 30

/*
 * A burst of requests can need much memory for a moment. At most once in this
 * many seconds, the worker returns free memory to the system. It does so only
 * if requests were read since the last time.
 */
#define TRIM_INTERVAL 5

struct worker {
	const struct daemon_options *options;
	struct status_board *board;         /* borrowed */
	const struct daemon_shared *shared; /* borrowed */
	int events, signals, alarm;         /* owned descriptors */
	/*
	 * heads of circular lists, one for each state: the connections in order
	 * of their deadlines
	 */
	struct daemon_conn lists[DAEMON_STATES];
	unsigned conn_nr;
	unsigned sending_nr; /* connections in DAEMON_SENDING */
	/*
	 * A new connection is refused if the number of its descriptor is fd_end
	 * or higher. The system always chooses the lowest free number. So all
	 * lower descriptors are in use then, and threads need the higher ones.
	 */
	int fd_end;
	/* whether requests were read since trimmed_ns */
	bool has_requests;
	/* when memory was last returned to the system */
	uint64_t trimmed_ns;
	bool is_draining;
	struct daemon_snapshots *snapshots; /* owned */
	struct plan_dir *plan_dir;          /* owned; NULL: none */
	struct plan_cache *plans;           /* owned; NULL: none */
	struct access_helper *helper;       /* owned; NULL: none */
	struct stored_copies *copies;       /* owned; NULL: no store */
	struct daemon_pool *pool;           /* owned; NULL: none */
	/* whether hint() has warned; used only by the loop */
	bool has_hinted;
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
	const unsigned seconds[] = {
		o->head_timeout, o->idle_timeout, o->head_timeout, DELAY,
		LINGER_TIMEOUT,  o->timeout,      o->timeout,      0};
	struct daemon_conn *end = &w->lists[state];

	conn->state = state;
	conn->deadline_ns = sys_clock_ns() + seconds[state] * SECOND_NS;
	conn->prev = end->prev;
	conn->next = end;
	end->prev->next = conn;
	end->prev = conn;
}

/*
 * Removes a descriptor of a request over ssh from epoll. A local process, the
 * command that sshd has started, passes its standard input and output to the
 * server. It is not enough to close our copy of such a descriptor: the local
 * process may still have the same file open, and epoll would then report events
 * for the file. The socket of the connection itself is not removed here.
 */
static void forget_fd(struct worker *w, const struct daemon_conn *conn, int fd)
{
	if (fd != conn->stream.fd)
		sys_event_remove(w->events, fd);
}

/* Ends a request in Git's own protocol, if there is one. */
static void end_talk(struct worker *w, struct daemon_conn *conn)
{
	if (!conn->talk)
		return;
	forget_fd(w, conn, daemon_input_fd(conn));
	forget_fd(w, conn, daemon_output_fd(conn));
	daemon_talk_free(conn);
}

/* Close a connection that is in no list and has no unsent answer. */
static void drop(struct worker *w, struct daemon_conn *conn)
{
	char client[SYS_ADDRESS_MAX];

	end_talk(w, conn);
	/*
	 * Remove the socket from epoll explicitly: closing it may not be
	 * enough. A process that is being spawned can hold the socket open for
	 * a moment. epoll would then report events with a pointer to freed
	 * memory.
	 */
	sys_event_remove(w->events, conn->stream.fd);
	daemon_stream_release(&conn->stream);
	trusted_client_name(client, conn->address);
	if (conn->is_counted)
		admission_disconnect(w->shared->admission, client);
	free(conn->input);
	free(conn);
	w->conn_nr--;
}

/*
 * Warns once if clients seem to come through a proxy that is not configured as
 * trusted. All clients of such a proxy count as one client, so their requests
 * wait.
 */
static void hint(struct worker *w, const struct daemon_conn *conn)
{
	const struct daemon_options *o = w->options;

	if (!conn->is_excess || w->has_hinted ||
	    !trusted_is_loopback(conn->address) ||
	    trusted_has(o->proxies, o->proxy_nr, conn->address))
		return;
	w->has_hinted = true;
	o->log(o->log_ctx,
	       DAEMON_WARNING "requests from a loopback address were refused "
			      "because too many of them wait; if the address "
			      "is that of a proxy, set trusted-proxy to it");
}

/*
 * Lets epoll report a connection, which is in a list, when bytes can be read.
 * TLS may have to answer a message of the client before it can read more, for
 * example a KeyUpdate. If the socket has no room for the answer, epoll reports
 * the connection when there is room. If epoll fails, closes the connection.
 */
static void await_input(struct worker *w, struct daemon_conn *conn)
{
	int ret = (conn->stream.wants_room ? sys_event_again_out
					   : sys_event_again)(
		w->events, daemon_input_fd(conn), conn, NULL);

	if (!ret)
		return;
	unlist(conn);
	drop(w, conn);
}

static void enqueue(struct worker *w, struct daemon_conn *conn)
{
	conn->state = DAEMON_BUSY;
	conn->is_last = w->is_draining;
	w->has_requests = true;
	daemon_pool_put(w->pool, conn);
	hint(w, conn);
}

/* ---- the loop */

/*
 * Returns how many bytes to read. For git://, bytes after the first pkt-line
 * stay in the socket, for the service.
 */
static size_t room(const struct daemon_conn *conn)
{
	const struct daemon_input *in = conn->input;

	return conn->protocol == DAEMON_GIT
		       ? git_request_missing(in->bytes, in->len)
		       : sizeof(in->bytes) - in->len;
}

/* Read the bytes that have arrived. Returns 0 or a negative error code. */
static int read_some(struct daemon_conn *conn)
{
	struct daemon_input *in;
	ssize_t n;

	in = daemon_give_input(conn);
	if (!in)
		return ERR_NOMEM;
	n = daemon_stream_try_read(&conn->stream, in->bytes + in->len,
				   room(conn));
	if (n < 0)
		return (int)n;
	in->len += (size_t)n;
	return 0;
}

/*
 * Parse the new bytes. Returns whether the head of a request is complete, or is
 * refused.
 */
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
 * Wait for the next bytes of a connection. The caller has removed the
 * connection from all lists, and epoll will report its next bytes.
 */
static void await_bytes(struct worker *w, struct daemon_conn *conn)
{
	if (conn->input && !conn->input->len) {
		free(conn->input);
		conn->input = NULL;
	}
	if (conn->talk) {
		enlist(w, conn, DAEMON_WAITING);
		return;
	}
	enlist(w, conn, conn->input ? DAEMON_HEAD : DAEMON_IDLE);
	/*
	 * While the worker drains, a connection waits one second for a request
	 * that may be on its way, see drain().
	 */
	if (w->is_draining && !conn->input)
		conn->deadline_ns = sys_clock_ns() + SECOND_NS;
}

/*
 * Parse the bytes that have arrived. Returns 1 if the head of a request is
 * complete or refused, 0 if more bytes are needed, or a negative error code.
 */
static int find_head(struct daemon_conn *conn)
{
	bool has_head = is_complete(conn);
	int ret = 0;

	while (!ret && !has_head && daemon_stream_has_bytes(&conn->stream)) {
		ret = read_some(conn);
		if (!ret)
			has_head = is_complete(conn);
	}
	return ret ? ret : has_head;
}

/*
 * Parse the bytes that have arrived. If the head of a request is complete, a
 * thread gets the connection. Otherwise the loop waits for more bytes. The
 * caller has removed the connection from all lists.
 */
static void advance(struct worker *w, struct daemon_conn *conn)
{
	int ret = find_head(conn);

	if (ret < 0) {
		drop(w, conn);
		return;
	}
	if (ret) {
		enqueue(w, conn);
		return;
	}
	await_bytes(w, conn);
	await_input(w, conn);
}

/* After the last answer, waits until the client closes the connection. */
static void start_linger(struct worker *w, struct daemon_conn *conn)
{
	/*
	 * Do not close the socket yet. If it has unread bytes, closing it sends
	 * a reset, and the client may lose the end of the answer.
	 */
	daemon_stream_end_output(&conn->stream);
	free(conn->input);
	conn->input = NULL;
	enlist(w, conn, DAEMON_LINGER);
	await_input(w, conn);
}

/*
 * Waits for the next command of a client of git:// or ssh. A thread reads the
 * command.
 */
static void await_command(struct worker *w, struct daemon_conn *conn)
{
	if (conn->input && conn->input->len) {
		enqueue(w, conn);
		return;
	}
	await_bytes(w, conn);
	await_input(w, conn);
}

/*
 * Called after the whole answer was sent: waits for the next request, or until
 * the client closes the connection.
 */
static void resume(struct worker *w, struct daemon_conn *conn)
{
	if (conn->after == DAEMON_WAITING) {
		await_command(w, conn);
	} else if (conn->after == DAEMON_IDLE) {
		advance(w, conn);
	} else {
		end_talk(w, conn);
		start_linger(w, conn);
	}
}

/*
 * Ends the answer of a connection, and the use of its repository. `err`: NULL
 * if the whole answer was sent, otherwise the reason why the rest cannot be
 * sent.
 */
static void end_answer(struct worker *w, struct daemon_conn *conn,
		       const struct error *err)
{
	w->sending_nr--;
	status_send_end(w->board, conn->send_slot);
	if (conn->talk) {
		forget_fd(w, conn, daemon_output_fd(conn));
		daemon_talk_end_answer(conn, err);
	} else {
		daemon_end_request(conn, err);
	}
}

/*
 * Close a connection while the loop sends its answer. The rest of the answer is
 * dropped, and *err is logged.
 */
static void give_up(struct worker *w, struct daemon_conn *conn,
		    const struct error *err)
{
	if (!conn->talk)
		daemon_log(w->options, conn, err->msg);
	end_answer(w, conn, err);
	unlist(conn);
	drop(w, conn);
}

/* Extends the deadline each time the client has accepted 64 KiB. */
static void renew(struct worker *w, struct daemon_conn *conn, size_t n)
{
	conn->moved += n;
	if (conn->moved < SYS_PATIENCE_BYTES)
		return;
	conn->moved = 0;
	unlist(conn);
	enlist(w, conn, DAEMON_SENDING);
}

/*
 * Send the next part of an answer. `now` is the present time. If bytes remain
 * to be sent at the time `now`, and the deadline of the connection has passed,
 * the connection is closed. If `now` is 0, the deadline is not checked.
 */
static void send_some(struct worker *w, struct daemon_conn *conn, uint64_t now)
{
	struct daemon_output *out = conn->unsent;
	struct error err = ERROR_INIT;
	bool is_full = false;
	ssize_t n = 0;

	for (int i = 0; i < TURN && !is_full && !outbox_is_empty(&out->box);
	     i++) {
		n = daemon_output_send(out, &is_full, &err);
		if (n < 0)
			break;
		renew(w, conn, (size_t)n);
	}
	if (n >= 0 && outbox_is_empty(&out->box)) {
		/*
		 * If `now` is not 0, this call was made because the deadline
		 * has passed. The socket is then still registered with epoll,
		 * which would report the connection when the socket has room.
		 * resume() may give the connection to a thread, and epoll must
		 * not report it then. So remove the socket from epoll.
		 */
		if (now)
			sys_event_remove(w->events, out->stream->fd);
		end_answer(w, conn, NULL);
		unlist(conn);
		resume(w, conn);
		return;
	}
	if (n >= 0)
		n = sys_event_again_out(w->events, out->stream->fd, conn, &err);
	if (n >= 0 && conn->deadline_ns <= now)
		n = error_set(&err, ERR_PEER, "the client is too slow");
	if (n < 0)
		give_up(w, conn, &err);
}

/* Take over an answer from a thread that has filled the socket's buffer. */
static void start_sending(struct worker *w, struct daemon_conn *conn)
{
	struct error err = ERROR_INIT;

	if (conn->input && !conn->input->len) {
		free(conn->input);
		conn->input = NULL;
	}
	conn->moved = 0;
	enlist(w, conn, DAEMON_SENDING);
	w->sending_nr++;
	daemon_show_sending(w->board, conn);
	if (sys_event_again_out(w->events, conn->unsent->stream->fd, conn,
				&err) < 0)
		give_up(w, conn, &err);
}

/* Reads and drops bytes that a client still sends after the last answer. */
static void linger(struct worker *w, struct daemon_conn *conn)
{
	char bytes[4096];

	if (daemon_stream_try_read(&conn->stream, bytes, sizeof(bytes)) >= 0 &&
	    !sys_event_again(w->events, conn->stream.fd, conn, NULL))
		return;
	unlist(conn);
	drop(w, conn);
}

/*
 * Continue a TLS handshake. A client that connects and closes, such as a port
 * check, is not logged.
 */
static void shake_hands(struct worker *w, struct daemon_conn *conn)
{
	static const char text[] = "HTTP/1.1 400 Bad Request\r\n"
				   "Content-Length: 0\r\n"
				   "Connection: close\r\n\r\n";
	const struct iovec iov = {(char *)text, sizeof(text) - 1};
	struct error err = ERROR_INIT;
	enum tls_wait wait;
	int ret = daemon_stream_handshake(&conn->stream, &wait, &err);

	if (!ret && wait != TLS_READY)
		ret = (wait == TLS_OUTPUT ? sys_event_again_out
					  : sys_event_again)(
			w->events, conn->stream.fd, conn, &err);
	else if (!ret) {
		unlist(conn);
		advance(w, conn);
	}
	if (!ret)
		return;
	if (ret != ERR_MISSING)
		daemon_log(w->options, conn, err.msg);
	unlist(conn);
	if (ret == ERR_UNSUPPORTED) {
		daemon_stream_try_writev(&conn->stream, &iov, 1);
		start_linger(w, conn);
	} else {
		drop(w, conn);
	}
}

/*
 * Reads more bytes of a head. While the head is not complete, the connection
 * keeps its place in the list, because its time limit counts from the first
 * byte of the head.
 */
static void continue_head(struct worker *w, struct daemon_conn *conn)
{
	int ret = read_some(conn);

	if (!ret)
		ret = find_head(conn);
	if (!ret) {
		await_input(w, conn);
		return;
	}
	unlist(conn);
	if (ret < 0)
		drop(w, conn);
	else
		enqueue(w, conn);
}

static void hear(struct worker *w, struct daemon_conn *conn)
{
	if (conn->state == DAEMON_LINGER) {
		linger(w, conn);
		return;
	}
	if (conn->state == DAEMON_HANDSHAKE) {
		shake_hands(w, conn);
		return;
	}
	if (conn->state == DAEMON_HEAD && conn->protocol != DAEMON_SSH) {
		continue_head(w, conn);
		return;
	}
	unlist(conn);
	/*
	 * Two kinds of input are read by a thread. The first: the forced
	 * command of sshd connects to this server (DAEMON_SSH), and sends one
	 * message as one packet. The message is complete, so the thread can
	 * read it without waiting. The second: the commands of a client of
	 * git:// or ssh, after its first request (conn->talk).
	 */
	if (conn->protocol == DAEMON_SSH || conn->talk) {
		enqueue(w, conn);
		return;
	}
	if (read_some(conn) < 0) {
		drop(w, conn);
		return;
	}
	advance(w, conn);
}

/*
 * Refuse a new connection because there are too many connections, of all
 * clients together or of its address.
 */
static void turn_away(struct worker *w, struct daemon_conn *conn,
		      enum admission_refusal why)
{
	daemon_turn_away(w->options, conn, why);
	/*
	 * The client may have sent a request already. If the socket were closed
	 * with unread bytes, TCP could reset the connection before the client
	 * reads the answer. So wait until the client closes the connection.
	 */
	if (conn->protocol == DAEMON_HTTP && why == ADMISSION_ADDRESS &&
	    w->conn_nr <= w->options->admission.connection_max &&
	    !sys_event_add_once(w->events, conn->stream.fd, conn, NULL))
		start_linger(w, conn);
	else
		drop(w, conn);
}

/*
 * Returns the state in which a connection begins, or DAEMON_BUSY if memory runs
 * out. An HTTPS connection begins with the TLS handshake (DAEMON_HANDSHAKE).
 * Later, the connection is handled like an HTTP connection whose bytes are
 * encrypted. So this function changes conn->protocol from DAEMON_HTTPS to
 * DAEMON_HTTP. It changes DAEMON_ADMIN to DAEMON_HTTP, too, and notes this in
 * conn->is_admin.
 */
static enum daemon_state first_state(const struct worker *w,
				     struct daemon_conn *conn)
{
	if (conn->protocol == DAEMON_HTTPS) {
		conn->protocol = DAEMON_HTTP;
		return daemon_stream_encrypt(&conn->stream, w->options->tls)
			       ? DAEMON_HANDSHAKE
			       : DAEMON_BUSY;
	}
	if (conn->protocol == DAEMON_ADMIN) {
		conn->protocol = DAEMON_HTTP;
		conn->is_admin = true;
	}
	/*
	 * Over HTTP, a connection may be idle before its first request. A
	 * client of git:// or ssh must send its request immediately.
	 */
	return conn->protocol == DAEMON_HTTP ? DAEMON_IDLE : DAEMON_HEAD;
}

/*
 * Count a new connection. Returns the reason for a refusal, or
 * ADMISSION_NO_REFUSAL (0).
 */
static enum admission_refusal judge(const struct worker *w,
				    struct daemon_conn *conn)
{
	const struct daemon_options *o = w->options;
	char client[SYS_ADDRESS_MAX];
	enum admission_refusal why;
	bool is_trusted;

	if (conn->stream.fd >= w->fd_end) {
		admission_refused(w->shared->admission, ADMISSION_CONNECTIONS);
		return ADMISSION_CONNECTIONS;
	}
	if (conn->protocol == DAEMON_ADMIN)
		return w->conn_nr > o->admission.connection_max
			       ? ADMISSION_CONNECTIONS
			       : ADMISSION_NO_REFUSAL;
	/*
	 * The limit of connections for one address does not apply to three
	 * kinds of clients:
	 * - clients of ssh, because their address is not known yet;
	 * - trusted proxies;
	 * - clients with a loopback address, because they may come through a
	 *   proxy. Exception: if the operator has set a limit in place of the
	 *   default, this limit also applies to loopback addresses.
	 */
	is_trusted = conn->protocol == DAEMON_SSH ||
		     (!o->limits_loopback &&
		      trusted_is_loopback(conn->address)) ||
		     trusted_has(o->proxies, o->proxy_nr, conn->address);
	trusted_client_name(client, conn->address);
	why = admission_connect(w->shared->admission, client, is_trusted);
	conn->is_counted = !why;
	return why;
}

/* Accepts one connection. Returns whether another connection may be waiting. */
static bool accept_one(struct worker *w, size_t nr)
{
	const struct daemon_options *o = w->options;
	struct daemon_conn *conn = mem_calloc(1, sizeof(*conn));
	enum admission_refusal why;
	enum daemon_state start;
	int ret = conn ? sys_socket_accept(o->listeners[nr], conn->address,
					   NULL)
		       : ERR_NOMEM;

	if (ret < 0) {
		/*
		 * If descriptors or memory have run out, wait a moment:
		 * requests that end will free some.
		 */
		if (ret != ERR_MISSING)
			sys_sleep_ns(SECOND_NS / 100);
		free(conn);
		return false;
	}
	daemon_stream_init(&conn->stream, ret);
	conn->protocol = o->protocols ? o->protocols[nr] : DAEMON_HTTP;
	w->conn_nr++;
	why = judge(w, conn);
	if (why) {
		turn_away(w, conn, why);
		return true;
	}
	start = first_state(w, conn);
	if (start == DAEMON_BUSY) {
		drop(w, conn);
		return true;
	}
	enlist(w, conn, start);
	if (sys_event_add_once(w->events, conn->stream.fd, conn, NULL) < 0) {
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

/* Take back the connections that threads have finished with. */
static void take_back(struct worker *w)
{
	struct daemon_conn *conn = daemon_pool_take_back(w->pool), *next;

	for (; conn; conn = next) {
		next = conn->next;
		if (conn->is_armed)
			await_bytes(w, conn);
		else if (conn->unsent)
			start_sending(w, conn);
		else if (conn->after == DAEMON_DELAY)
			enlist(w, conn, DAEMON_DELAY);
		else
			resume(w, conn);
	}
}

/*
 * Handle the connections whose deadline has passed. Most of them are closed.
 * There is one exception: the refusal of a wrong password is delayed on
 * purpose, and the end of the delay is stored as the deadline (DAEMON_DELAY).
 * Such a connection is given to a thread, which sends the refusal.
 */
static void expire(struct worker *w, uint64_t now)
{
	static const char *const late[DAEMON_STATES] = {
		[DAEMON_HANDSHAKE] = "the TLS handshake took too long",
		[DAEMON_HEAD] = "the client took too long to send the head of "
				"a request",
	};

	for (int state = 0; state < DAEMON_BUSY; state++) {
		struct daemon_conn *end = &w->lists[state], *conn;

		while ((conn = end->next) != end && conn->deadline_ns <= now) {
			/*
			 * Try to send before giving up: epoll reports a socket
			 * only when a third of its buffer is free.
			 */
			if (state == DAEMON_SENDING) {
				send_some(w, conn, now);
				continue;
			}
			if (late[state])
				daemon_log(w->options, conn, late[state]);
			if (state == DAEMON_WAITING)
				daemon_talk_give_up(conn);
			unlist(conn);
			if (state == DAEMON_DELAY)
				enqueue(w, conn);
			else
				drop(w, conn);
		}
	}
}

/*
 * Stops accepting connections. Connections without a request are closed soon.
 */
static void drain(struct worker *w)
{
	w->is_draining = true;
	accept_all(w);
	for (size_t i = 0; i < w->options->listener_nr; i++) {
		sys_event_remove(w->events, w->options->listeners[i]);
		sys_close(w->options->listeners[i]);
	}
	/*
	 * Keep idle connections open for one second, because their next request
	 * may already be on its way.
	 */
	for (struct daemon_conn *c = w->lists[DAEMON_IDLE].next;
	     c != &w->lists[DAEMON_IDLE]; c = c->next)
		c->deadline_ns = sys_clock_ns() + SECOND_NS;
}

/*
 * Returns whether an event belongs to a connection whose answer the loop sends.
 */
static bool is_sending(const struct worker *w, const void *ctx)
{
	const struct daemon_conn *conn = ctx;

	return ctx != &w->signals && ctx != &w->alarm && ctx != w &&
	       conn->state == DAEMON_SENDING;
}

static void handle(struct worker *w, void *ctx)
{
	if (ctx == &w->signals) {
		if (sys_event_signal(w->signals) == SIGTERM && !w->is_draining)
			drain(w);
	} else if (ctx == &w->alarm) {
		sys_event_unwake(w->alarm);
		take_back(w);
	} else if (ctx == w) {
		if (!w->is_draining)
			accept_all(w);
	} else if (is_sending(w, ctx)) {
		send_some(w, ctx, 0);
	} else {
		hear(w, ctx);
	}
}

/*
 * Handles events. Before this, takes back the connections that threads have
 * finished with. The reason: such a thread may have told epoll to report the
 * next bytes of its connection. An event may then belong to this connection,
 * and the event can be handled only after the connection was taken back.
 * Sending takes time, so events of connections that are sending are handled
 * last.
 */
static void handle_all(struct worker *w, void *const *ready, size_t nr)
{
	void *later[EVENTS];
	size_t later_nr = 0;

	take_back(w);
	for (size_t i = 0; i < nr; i++)
		if (is_sending(w, ready[i]))
			later[later_nr++] = ready[i];
		else
			handle(w, ready[i]);
	for (size_t i = 0; i < later_nr; i++)
		handle(w, later[i]);
}

static void expire_snapshots(struct worker *w, uint64_t now)
{
	const uint64_t age = SNAPSHOT_TIMEOUT * SECOND_NS;

	if (now > age)
		daemon_snapshots_expire(w->snapshots, now - age);
}

static void trim_memory(struct worker *w, uint64_t now)
{
	if (!w->has_requests || now - w->trimmed_ns < TRIM_INTERVAL * SECOND_NS)
		return;
	w->has_requests = false;
	w->trimmed_ns = now;
	sys_memory_trim();
}

/*
 * Writes the present numbers of this worker, such as its connections, to its
 * board in shared memory. The status page shows them.
 */
static void show(const struct worker *w)
{
	status_board_set(w->board, STATUS_GAUGE_CONNECTIONS, w->conn_nr);
	status_board_set(w->board, STATUS_GAUGE_SENDING, w->sending_nr);
	status_board_set(w->board, STATUS_GAUGE_SNAPSHOTS,
			 daemon_snapshots_nr(w->snapshots));
	if (w->plans)
		status_board_set(w->board, STATUS_GAUGE_PLAN_BYTES,
				 plan_cache_size(w->plans));
}

static void loop(struct worker *w)
{
	void *ready[EVENTS];

	while (!w->is_draining || w->conn_nr) {
		size_t nr = sys_event_wait(w->events, ready, EVENTS, 250);
		uint64_t now;

		handle_all(w, ready, nr);
		daemon_pool_replace(w->pool);
		now = sys_clock_ns();
		daemon_pool_relieve(w->pool, now);
		expire(w, now);
		expire_snapshots(w, now);
		trim_memory(w, now);
		show(w);
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

static int start_pool(struct worker *w, struct error *err)
{
	const struct daemon_pool_setup setup = {
		.options = w->options,
		.board = w->board,
		.shared = w->shared,
		.snapshots = w->snapshots,
		.plans = w->plans,
		.helper = w->helper,
		.copies = w->copies,
		.events = w->events,
		.alarm = w->alarm,
	};

	return daemon_pool_start(&w->pool, &setup, err);
}

/*
 * Opens the cache of plans (cached responses). If memory runs out, the worker
 * serves without plans.
 */
static void open_plans(struct worker *w)
{
	const struct daemon_options *o = w->options;
	char line[ERROR_MESSAGE_MAX + sizeof(DAEMON_WARNING)];
	struct error warning = ERROR_INIT;

	if (o->plan_directory &&
	    !plan_dir_new(&w->plan_dir, o->plan_directory,
			  o->plan_directory_max, &warning, NULL) &&
	    warning.code) {
		snprintf(line, sizeof(line), DAEMON_WARNING "%s", warning.msg);
		o->log(o->log_ctx, line);
	}
	if (o->plan_max || w->plan_dir)
		w->plans = plan_cache_new(o->plan_max, w->plan_dir);
}

int worker_run(const struct daemon_options *options, struct status_board *board,
	       const struct daemon_shared *shared, int alarm, struct error *err)
{
	struct worker w = {.options = options,
			   .board = board,
			   .shared = shared,
			   .events = -1,
			   .signals = -1,
			   .alarm = -1};
	int ret;

	w.fd_end = daemon_pool_fd_end(options->thread_nr);
	for (int i = 0; i < DAEMON_STATES; i++)
		w.lists[i].next = w.lists[i].prev = &w.lists[i];
	if (options->access_helper) {
		w.helper = access_helper_new(options->access_helper,
					     options->access_timeout * 1000);
		/*
		 * Do not serve without the configured access helper: every
		 * request would be allowed.
		 */
		if (!w.helper)
			return error_nomem(err);
	}
	open_plans(&w);
	w.snapshots = daemon_snapshots_new(SNAPSHOTS_MAX, w.plans);
	ret = w.snapshots ? open_events(&w, err) : error_nomem(err);
	if (!ret && options->store)
		ret = stored_copies_open(&w.copies, options->store, err);
	if (!ret)
		ret = start_pool(&w, err);
	if (!ret) {
		status_board_set_ready(board);
		sys_event_wake(alarm);
		loop(&w);
	}
	daemon_pool_end(w.pool);
	daemon_snapshots_free(w.snapshots);
	plan_cache_free(w.plans);
	plan_dir_free(w.plan_dir);
	access_helper_free(w.helper);
	stored_copies_close(w.copies);
	sys_close(w.events);
	sys_close(w.signals);
	sys_close(w.alarm);
	return ret;
}
