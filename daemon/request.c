/* SPDX-License-Identifier: MIT */
/*
 * Answers one request in a thread. The thread reads the body from the socket,
 * and may wait for the client. It writes the answer to the output of the
 * request (output.c), and is done when the answer is made. If the client has
 * not read all bytes by then, the event loop of the worker process sends the
 * rest.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"
#include "config/config.h"
#include "daemon/daemon-parts.h"
#include "daemon/outbox.h"
#include "daemon/stream.h"
#include "http/http-exchange.h"
#include "http/http-request.h"
#include "http1/body.h"
#include "repo/repo.h"
#include "status/board.h"
#include "status/statistics.h"
#include "sys/clock.h"
#include "wire/pktline.h"

const struct http1_limits daemon_limits = {
	.head_len = DAEMON_HEAD_MAX,
	.target_len = 8192,
	.field_nr = HTTP1_FIELDS_MAX,
};

/*
 * Maximum number of bytes of a request body that are read and dropped so that
 * the connection can be kept.
 */
#define DROP_MAX 65536

/* ---- struct serve_io for the socket */

static int send_continue(struct daemon_request *q, struct error *err)
{
	static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
	struct iovec iov = {(char *)text, sizeof(text) - 1};

	q->wants_continue = false;
	return daemon_output_writev(&q->answer.output, &iov, 1, err);
}

/*
 * Reads more bytes of the body into conn->input, behind the HTTP head. The head
 * is not overwritten, because strings point into it. Returns 0 or a negative
 * error code; the end of the input is an error.
 */
static int refill(struct daemon_request *q, struct error *err)
{
	struct daemon_input *in = q->conn->input;
	ssize_t n = q->wants_continue ? send_continue(q, err) : 0;

	if (n < 0)
		return (int)n;
	q->at = in->len = in->head.len;
	n = daemon_stream_read(&q->conn->stream, in->bytes + in->len,
			       sizeof(in->bytes) - in->len,
			       &q->answer.output.patience, err);
	if (!n)
		return error_set(err, ERR_PEER,
				 "the client ended the request early");
	in->len += n > 0 ? (size_t)n : 0;
	return n < 0 ? (int)n : 0;
}

static ssize_t read_body(void *ctx, void *bytes, size_t len, struct error *err)
{
	struct daemon_request *q = ctx;
	struct daemon_input *in = q->conn->input;
	struct http1_piece piece;

	for (;;) {
		size_t left = in->len - q->at;
		int ret = http1_body_next(&q->body, in->bytes + q->at,
					  left < len ? left : len, &piece, err);

		if (ret < 0)
			return ret;
		memcpy(bytes, in->bytes + q->at + piece.off, piece.len);
		q->at += piece.off + piece.len;
		if (ret > 0 || piece.len)
			return (ssize_t)piece.len;
		ret = q->at == in->len ? refill(q, err) : 0;
		if (ret < 0)
			return ret;
	}
}

static int write_output(void *ctx, struct iovec *iov, size_t nr,
			struct error *err)
{
	struct daemon_request *q = ctx;

	return daemon_output_writev(&q->answer.output, iov, nr, err);
}

static int emit(void *ctx, const struct serve_span *span, struct error *err)
{
	struct daemon_request *q = ctx;

	return daemon_output_emit(&q->answer.output, span, err);
}

static bool end_later(void *ctx, struct summary *summary, bool has_failed)
{
	struct daemon_request *q = ctx;

	return daemon_answer_end_later(&q->answer, summary, has_failed);
}

/* ---- the request for http_serve() */

/*
 * Finds the repository. The result is cached for the request, even a failure,
 * so that the store and the access helper are asked only once. Returns 0 or a
 * negative error code.
 */
static int find_place(struct daemon_request *q, struct daemon_inquiry *inquiry,
		      struct error *err)
{
	int ret = q->place_error.code;

	if (!q->place.path && !ret)
		ret = daemon_place_find(&q->place, q->options, q->conn,
					q->http.path_info, q->repo_len, false,
					inquiry, &q->place_error);
	if (ret && err)
		*err = q->place_error;
	return ret;
}

/*
 * Opens the repository at `path`. If `path` is NULL, opens the repository that
 * the request names. Returns 0 or a negative error code.
 */
static int enter_at(struct daemon_request *q, const char *path,
		    struct error *err)
{
	int ret = q->answer.entered || path ? 0 : find_place(q, NULL, err);

	return ret ? ret
		   : daemon_answer_enter(&q->answer,
					 path ? path : q->place.path, false,
					 err);
}

static int enter_snapshot(struct daemon_request *q, struct error *err)
{
	return enter_at(q, NULL, err);
}

static int enter(void *ctx, const char *path, const struct repo **repo,
		 struct error *err)
{
	struct daemon_request *q = ctx;
	int ret = enter_at(q, q->conn->copies ? NULL : path, err);

	if (ret < 0)
		return ret;
	q->http.is_fresh_copy = stored_copies_is_fresh(q->conn->copies,
						       &q->place.use);
	return daemon_answer_repo(repo, &q->answer, err);
}

static int objects(void *ctx, struct odb **odb, struct error *warning,
		   struct error *err)
{
	struct daemon_request *q = ctx;

	return daemon_answer_objects(&q->answer, odb, warning, err);
}

/*
 * Returns the principal for which the request counts: the user, or the client's
 * address if there is no user. q->user is used first, because it also names a
 * user who was identified by a password. daemon_principal() does not know such
 * users.
 */
static const char *principal_of(const struct daemon_request *q)
{
	return *q->user ? q->user : daemon_principal(q->options, q->conn);
}

static int make_pack(void *ctx, const struct odb *odb,
		     const struct packing_request *request,
		     const struct packing_send_options *options,
		     struct pack_sink sink, struct packing_report *report,
		     struct error *err)
{
	struct daemon_request *q = ctx;

	q->answer.principal = principal_of(q);
	return daemon_answer_make_pack(&q->answer, odb, request, options, sink,
				       report, err);
}

/* Logs a line about a request. Adds the path that the client asked for. */
static void log_request(const struct daemon_request *q, const char *line)
{
	char quoted[PKTLINE_QUOTE_MAX];
	const char *path = q->http.path_info;
	struct buf text = BUF_INIT;

	if (path && !buf_printf(&text, "%s (path '%s')", line,
				pktline_quote(quoted, path)))
		line = text.data;
	daemon_log(q->options, q->conn, line);
	buf_release(&text);
}

static void write_log(void *ctx, const char *line)
{
	log_request(ctx, line);
}

/*
 * Copies the header field "traceparent" to q->traceparent. Returns the copy, or
 * NULL if there is no such field or it is not valid.
 */
static const char *copy_traceparent(struct daemon_request *q)
{
	struct daemon_input *in = q->conn->input;
	const char *value = daemon_field(in, "traceparent");

	if (daemon_field_nr(in, "traceparent") != 1 ||
	    !traceparent_is_valid(value))
		return NULL;
	memcpy(q->traceparent, value, sizeof(q->traceparent));
	return q->traceparent;
}

/*
 * Fills in the options of http_serve(). With a right password, the user may
 * also read repositories without the file git-daemon-export-ok.
 */
static void fill(struct daemon_request *q, const char *user,
		 enum daemon_login login)
{
	const struct daemon_options *o = q->options;
	struct daemon_input *in = q->conn->input;
	bool is_old = !in->head.minor;

	/*
	 * Copy the name, because conn->input may get the next HTTP head before
	 * this request ends.
	 */
	if (user && user != q->user)
		snprintf(q->user, sizeof(q->user), "%s", user);
	daemon_client_address(q->client, o, q->conn);
	q->answer.about.client = q->client;
	q->answer.about.user = user ? q->user : NULL;
	q->answer.about.traceparent = copy_traceparent(q);
	q->http = (struct http_options){
		.request_method = daemon_string_at(in, in->head.method),
		.server_protocol = is_old ? "HTTP/1.0" : "HTTP/1.1",
		.project_root = o->base_path,
		.path_info = q->path.data,
		.query_string = daemon_string_at(in, in->head.query),
		.content_type = daemon_field(in, "Content-Type"),
		.content_length = daemon_field(in, "Content-Length"),
		.content_encoding = daemon_field(in, "Content-Encoding"),
		.git_protocol = daemon_field(in, "Git-Protocol"),
		.remote_user = user,
		.challenge = daemon_challenge(q),
		.export_all = o->export_all || login == DAEMON_LOGIN_USER,
		.namespace = o->namespace,
		.agent = o->agent,
		.session_id = o->session_id,
		.enter = enter,
		.objects = objects,
		.make_pack = make_pack,
		.log = write_log,
		.ctx = q,
		.form = is_old ? HTTP_1_0 : HTTP_1_1,
		.keep_alive = in->head.keep_alive && !q->conn->is_last,
		.about = &q->answer.about,
	};
}

/*
 * Logs that a request is refused. A request for a password (401) is no refusal:
 * Git's first request never has one, and a wrong password has its own line. So
 * has a denial by the access helper.
 */
static void log_refusal(const struct daemon_request *q, const char *status)
{
	if (!q->is_denied && strncmp(status, "401", 3) != 0)
		log_request(q, status);
}

/*
 * Refuses a request with the HTTP status `status`. The repository need not be
 * known yet. Returns 0 or ERR_PEER.
 */
static int refuse(struct daemon_request *q, const char *status)
{
	struct http_reply reply;
	int ret;

	log_refusal(q, status);
	http_reply_init(&reply, &q->io, false);
	reply.form = HTTP_1_1;
	reply.challenge = daemon_challenge(q);
	reply.keep_alive = q->http.keep_alive;
	reply.retry_after = daemon_retry_after();
	ret = http_reply_refuse(&reply, status, NULL, NULL, NULL);
	http_reply_release(&reply);
	return ret;
}

/*
 * Refuses a request, because too many requests of the client wait for a thread.
 */
static void refuse_excess(struct daemon_request *q)
{
	admission_refused(q->conn->shared->admission, ADMISSION_PRINCIPAL_FULL);
	refuse(q, "429 Too Many Requests");
}

static const char *status_line(unsigned status)
{
	switch (status) {
	case 414:
		return "414 URI Too Long";
	case 417:
		return "417 Expectation Failed";
	case 431:
		return "431 Request Header Fields Too Large";
	case 501:
		return "501 Not Implemented";
	case 505:
		return "505 HTTP Version Not Supported";
	default:
		return "400 Bad Request";
	}
}

/*
 * Reads the rest of the body and drops it, because the answer has said that the
 * connection is kept. Waits for bytes that are still on their way. Gives up if
 * the body is long (DROP_MAX). Also gives up if the client waits for "100
 * Continue": such a client may never send the body. Returns whether the body
 * was read to its end.
 */
static bool drop_body(struct daemon_request *q)
{
	struct daemon_input *in = q->conn->input;
	struct http1_piece piece;
	size_t dropped = 0;
	int ret;

	while (!(ret = http1_body_next(&q->body, in->bytes + q->at,
				       in->len - q->at, &piece, NULL))) {
		q->at += piece.off + piece.len;
		dropped += piece.off + piece.len;
		if (q->at < in->len)
			continue;
		if (q->wants_continue || dropped > DROP_MAX ||
		    refill(q, NULL) < 0)
			return false;
	}
	q->at += piece.off + piece.len;
	return ret > 0;
}

/*
 * Keeps the bytes behind the body for the next request. Returns whether the
 * body was read to its end.
 */
static bool finish_input(struct daemon_request *q)
{
	struct daemon_input *in = q->conn->input;

	if (!drop_body(q))
		return false;
	in->len -= q->at;
	memmove(in->bytes, in->bytes + q->at, in->len);
	http1_head_init(&in->head);
	return true;
}

/*
 * Asks the access helper, and opens the repository. A repository of a store is
 * opened only after the helper has allowed the request. A repository below the
 * base path is opened first, because the helper is asked about its real path.
 * If the repository cannot be opened, *why has the reason, and the helper is
 * asked about the path of the request.
 *
 * Returns 0 if the request is allowed, ERR_DENIED, or ERR_PEER if the helper
 * does not answer.
 */
static int ask_helper(struct daemon_request *q,
		      const struct access_question *question, struct error *why)
{
	struct daemon_inquiry inquiry = {*question, &q->answer.access};
	int ret;

	if (!q->conn->copies) {
		enter_snapshot(q, why);
		return daemon_authorize(&q->answer.access, q->options, q->conn,
					&inquiry.question, q->answer.entered);
	}
	ret = find_place(q, &inquiry, why);
	if (!ret)
		enter_snapshot(q, why);
	return ret == ERR_DENIED || ret == ERR_PEER ? ret : 0;
}

/*
 * Asks the access helper about the repository. Returns the status of a refusal,
 * or NULL if the request may go on. The helper decides alone:
 * git-daemon-export-ok is not needed.
 */
static const char *authorize(struct daemon_request *q)
{
	const struct daemon_options *o = q->options;
	const char *user = q->http.remote_user;
	struct buf name = BUF_INIT;
	struct access_question question = {
		.user = user ? user : "",
		.service = daemon_service_of(q),
		.protocol = daemon_stream_is_tls(&q->conn->stream) ? "https"
								   : "http",
		.address = q->client,
	};
	struct error why = ERROR_INIT;
	int ret = ERR_PEER;

	if (!q->conn->helper)
		return NULL;
	if (!buf_append(&name, q->http.path_info, q->repo_len)) {
		question.repository = name.data;
		ret = ask_helper(q, &question, &why);
		q->is_denied = ret == ERR_DENIED &&
			       (user || !q->http.challenge);
		if (q->is_denied)
			daemon_note_denial(o, q->conn, &question,
					   q->answer.entered);
	}
	buf_release(&name);
	if (ret == ERR_PEER)
		return "503 Service Unavailable";
	q->http.export_all = true;
	if (!ret && q->answer.entered)
		return NULL;
	/*
	 * The repository could not be opened. Do not try to open it again. The
	 * access helper (the configured program that decides which requests are
	 * allowed) was asked only once. At a second attempt, the path could
	 * lead to another repository, about which the helper was not asked.
	 */
	if (!ret)
		daemon_log(o, q->conn, why.msg);
	if (!ret && (user || !q->http.challenge))
		return why.code == ERR_MISSING ? "404 Not Found"
		       : q->conn->copies       ? "503 Service Unavailable"
					       : "500 Internal Server Error";
	return !user && q->http.challenge ? "401 Unauthorized"
					  : "403 Forbidden";
}

/*
 * Returns whether the request starts a fetch or a push and must be refused,
 * because too many requests wait. Returns false if the repository cannot be
 * opened or is not exported: http_serve() reports these errors.
 */
static bool is_busy(struct daemon_request *q)
{
	return !strcmp(q->http.path_info + q->repo_len, "/info/refs") &&
	       !enter_snapshot(q, NULL) &&
	       (q->http.export_all ||
		http_is_exported(q->answer.entered, NULL) > 0) &&
	       daemon_is_busy(q->conn->shared, principal_of(q),
			      q->answer.entered, daemon_is_push(q));
}

/*
 * Returns whether git http-backend will allow a push to the repository. A push
 * that will be refused need not wait for its turn.
 */
static bool may_push(const struct daemon_request *q)
{
	const char *user = q->http.remote_user;
	bool is_allowed = user && *user;

	return !strcmp(q->http.request_method, "POST") &&
	       config_bool(&q->answer.entered->config, "http.receivepack",
			   &is_allowed, NULL) >= 0 &&
	       is_allowed;
}

/*
 * Waits for the first bytes of the body, so that a client that sends nothing
 * does not occupy a place among the pushes. Returns 0 or a negative error code.
 */
static int await_body(struct daemon_request *q, struct error *err)
{
	const struct daemon_input *in = q->conn->input;
	bool has_body = in->head.framing == HTTP1_CHUNKED ||
			(in->head.framing == HTTP1_LENGTH && in->head.body_len);

	return has_body && q->at == in->len ? refill(q, err) : 0;
}

/*
 * *pass must have no ticket before the call. If the request is a push that is
 * allowed, waits for its turn, and *pass gets a ticket. For any other request,
 * *pass stays without a ticket. In both cases the caller passes *pass to
 * admission_leave() at the end. Returns 0 or a negative error code.
 */
static int admit_push(struct admission_pass *pass, struct daemon_request *q,
		      struct error *err)
{
	const char *path = q->http.path_info;
	int ret = 0;

	if (!strcmp(path + q->repo_len, "/git-receive-pack") &&
	    !enter_snapshot(q, NULL) && may_push(q)) {
		ret = await_body(q, err);
		if (!ret)
			ret = daemon_admit_push(pass, q->conn->shared,
						principal_of(q),
						q->answer.entered, err);
	}
	return ret;
}

/*
 * Answers in a child process, and counts the request in the statistics. A push
 * waits for its turn first, unless its repository is suspected of crashing
 * workers. Returns 0 or a negative error code.
 */
static int run_child(struct daemon_request *q, bool is_suspect, bool *is_kept,
		     struct error *err)
{
	char path[STATUS_PATH_MAX];
	bool is_push = daemon_is_push(q);
	bool is_info = !strcmp(q->http.path_info + q->repo_len, "/info/refs");
	uint64_t begin_ns = sys_clock_ns();
	struct admission_pass pass = {.a = NULL};
	int ret = is_suspect ? 0 : admit_push(&pass, q, err);
	struct status_child_request done;

	if (ret < 0) {
		refuse(q, "503 Service Unavailable");
		return ret;
	}
	ret = daemon_run_child(q, &pass, is_kept, err);
	admission_leave(&pass);
	done = (struct status_child_request){
		.path = path,
		.client = q->client,
		.user = q->http.remote_user,
		.service = is_push ? "receive-pack" : "http-backend",
		.command = !is_push  ? "other"
			   : is_info ? "advertise"
				     : "push",
		.code = !ret && q->child_status == HTTP_EXIT_FAILED ? ERR_IO
								    : ret,
		.total_us = (sys_clock_ns() - begin_ns) / 1000,
		.cpu_us = q->child_cpu_us,
		.times = q->child_times,
	};

	if (q->place.use.copy)
		snprintf(path, sizeof(path), "%s", q->place.path);
	else
		snprintf(path, sizeof(path), "%s%.*s", q->options->base_path,
			 (int)q->repo_len, q->http.path_info);
	statistics_add_child(q->conn->shared->statistics, &done,
			     (uint64_t)q->options->slow_ms * 1000);
	return ret;
}

/*
 * If repositories are in a store, makes or updates the local copy of the
 * repository. Returns the status of a refusal, or NULL if the request may go
 * on.
 */
static const char *refresh_copy(struct daemon_request *q)
{
	int ret = q->conn->copies ? find_place(q, NULL, NULL) : 0;

	if (!ret)
		return NULL;
	if (ret != ERR_MISSING)
		return "503 Service Unavailable";
	return !q->http.remote_user && q->http.challenge ? "401 Unauthorized"
							 : "404 Not Found";
}

/*
 * Answer, in this thread or in a child process. Returns 0 or a negative error
 * code.
 */
static int answer_guarded(struct daemon_request *q, bool *is_kept,
			  struct error *err)
{
	const char *path = q->http.path_info;
	struct http_url url;
	bool is_known = http_url_parse(&url, path) && http_path_is_plain(path);
	struct status_request request;
	struct daemon_guard guard;
	const char *status;
	int ret;

	q->repo_len = http_url_parse(&url, path) ? url.repo_len : strlen(path);
	daemon_describe(&request, q->conn);
	if (daemon_guard_enter(&guard, q->conn, &request, err) < 0) {
		refuse(q, "503 Service Unavailable");
		return ERR_DENIED;
	}
	status = authorize(q);
	if (!status && is_known)
		status = refresh_copy(q);
	if (!status && !guard.is_suspect && is_busy(q))
		status = "429 Too Many Requests";
	if (status) {
		ret = refuse(q, status);
		*is_kept = !ret && q->http.keep_alive;
	} else if (guard.is_suspect || daemon_needs_child(q)) {
		daemon_guard_hand_over(&guard);
		ret = run_child(q, guard.is_suspect, is_kept, err);
	} else {
		ret = http_serve(&q->http, &q->io, is_kept, err);
	}
	daemon_guard_leave(&guard, q->child_status);
	return ret;
}

/*
 * Decides from the login of the user whether a request is refused. Returns the
 * HTTP status of the refusal if the login is malformed or forbidden, or if a
 * push has no user although users are configured. Otherwise returns NULL: the
 * request is not refused here.
 */
static const char *judge(const struct daemon_request *q,
			 enum daemon_login login)
{
	switch (login) {
	case DAEMON_LOGIN_MALFORMED:
		return "400 Bad Request";
	case DAEMON_LOGIN_FORBIDDEN:
		return "403 Forbidden";
	case DAEMON_LOGIN_NONE:
		if (!q->options->htpasswd || !daemon_is_push(q))
			return NULL;
		return daemon_challenge(q) ? "401 Unauthorized"
					   : "403 Forbidden";
	default:
		return NULL;
	}
}

/*
 * Answers the request whose path is q->path. Returns whether the client can
 * send a further request on the connection.
 */
static bool answer(struct daemon_request *q)
{
	struct error err = ERROR_INIT;
	enum daemon_login login;
	const char *user, *status;
	bool is_kept = false;
	int ret;

	if (q->conn->is_admin) {
		daemon_admin_answer(q, q->path.data);
		return false;
	}
	/*
	 * Refuse a path with ".." or the like here. http_serve() would answer
	 * such a path with status 500.
	 */
	if (!http_path_is_plain(q->path.data)) {
		refuse(q, "400 Bad Request");
		return false;
	}
	login = daemon_login(&user, q);
	if (login == DAEMON_LOGIN_WRONG) {
		q->conn->is_denied = true;
		return false;
	}
	fill(q, user, login);
	status = judge(q, login);
	if (status)
		return !refuse(q, status) && q->http.keep_alive &&
		       finish_input(q);
	ret = answer_guarded(q, &is_kept, &err);
	if (ret < 0) {
		daemon_log(q->options, q->conn, err.msg);
		daemon_answer_record(&q->answer, &err);
	}
	return is_kept && finish_input(q);
}

void daemon_end_request(struct daemon_conn *conn, const struct error *err)
{
	struct daemon_request *q = conn->request;

	daemon_answer_end(&q->answer, err);
	daemon_answer_release(&q->answer);
	buf_release(&q->path);
	free(q);
	conn->request = NULL;
	conn->unsent = NULL;
}

static struct daemon_request *new_request(const struct daemon_options *options,
					  struct daemon_conn *conn)
{
	struct daemon_request *q = mem_calloc(1, sizeof(*q));

	if (!q)
		return NULL;
	*q = (struct daemon_request){
		.options = options,
		.conn = conn,
		.path = BUF_INIT,
		.at = conn->input->head.len,
		.wants_continue = conn->input->head.expects_continue,
		.io = {.read = read_body,
		       .writev = write_output,
		       .ctx = q,
		       .emit = emit,
		       .end_later = end_later},
	};
	daemon_answer_init(&q->answer, options, conn, &conn->stream);
	http1_body_init(&q->body, &conn->input->head);
	return q;
}

void daemon_serve(const struct daemon_options *options,
		  struct daemon_conn *conn)
{
	struct daemon_request *q = new_request(options, conn);
	struct http1_head *head = &conn->input->head;
	bool is_kept = false, was_denied = conn->is_denied;

	conn->after = DAEMON_LINGER;
	if (!q)
		return;
	conn->request = q;
	conn->unsent = &q->answer.output;
	if (was_denied)
		refuse(q, "401 Unauthorized");
	else if (head->status)
		refuse(q, status_line(head->status));
	else if (conn->is_excess)
		refuse_excess(q);
	else if (!http1_head_path(&q->path, head, conn->input->bytes))
		is_kept = answer(q);
	if (is_kept)
		conn->after = DAEMON_IDLE;
	if (conn->is_denied && !was_denied)
		conn->after = DAEMON_DELAY;
	/*
	 * Sending the unsent bytes of the answer does not need the directory of
	 * the repository: the files with these bytes are open.
	 */
	daemon_place_release(&q->place);
	if (outbox_is_empty(&q->answer.output.box))
		daemon_end_request(conn, NULL);
}
