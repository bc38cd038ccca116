/* SPDX-License-Identifier: MIT */
/*
 * Answers one request in a thread. The thread reads the body from the socket,
 * and writes the answer to the socket, and may wait for the client.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "daemon/daemon-parts.h"
#include "http/http-exchange.h"
#include "http/http-request.h"
#include "repo/repo.h"
#include "sys/clock.h"
#include "wire/pktline.h"

const struct http1_limits daemon_limits = {
	.head_len = DAEMON_HEAD_MAX,
	.target_len = 8192,
	.field_nr = HTTP1_FIELDS_MAX,
};

void daemon_log(const struct daemon_options *options,
		const struct daemon_conn *conn, const char *line)
{
	char text[1024], quoted[PKTLINE_QUOTE_MAX];

	snprintf(text, sizeof(text), "%s: %s", conn->address,
		 pktline_quote(quoted, line));
	options->log(options->log_ctx, text);
}

/* ---- the socket as a serve_io */

static int send_continue(struct daemon_request *q, struct error *err)
{
	static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
	struct iovec iov = {(char *)text, sizeof(text) - 1};

	q->wants_continue = false;
	return sys_socket_writev(q->conn->fd, &iov, 1, &q->patience, err);
}

/*
 * Read more bytes behind the head. The head stays: strings point into it.
 * Returns 0 or a negative error code; the end of the input is an error.
 */
static int refill(struct daemon_request *q, struct error *err)
{
	struct daemon_input *in = q->conn->input;
	ssize_t n = q->wants_continue ? send_continue(q, err) : 0;

	if (n < 0)
		return (int)n;
	q->at = in->len = in->head.len;
	n = sys_socket_read(q->conn->fd, in->bytes + in->len,
			    sizeof(in->bytes) - in->len, &q->patience, err);
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

static int write_socket(void *ctx, struct iovec *iov, size_t nr,
			struct error *err)
{
	struct daemon_request *q = ctx;

	return sys_socket_writev(q->conn->fd, iov, nr, &q->patience, err);
}

/* ---- the request for http_serve() */

/*
 * Returns a part of the head as a string. The byte behind the part, a blank or
 * CR, is overwritten.
 */
static const char *string_at(struct daemon_input *in, struct http1_part part)
{
	in->bytes[part.off + part.len] = '\0';
	return in->bytes + part.off;
}

static const char *field(struct daemon_input *in, const char *name)
{
	const struct http1_field *f = http1_head_field(&in->head, in->bytes,
						       name);

	return f ? string_at(in, f->value) : NULL;
}

/*
 * Set *user to the user that a trusted proxy names, or to NULL. Returns false
 * if the proxy names several.
 */
static bool find_user(const char **user, struct daemon_request *q)
{
	const struct daemon_options *o = q->options;
	struct daemon_input *in = q->conn->input;
	size_t nr = 0;

	*user = NULL;
	if (!o->user_header ||
	    !trusted_has(o->proxies, o->proxy_nr, q->conn->address))
		return true;
	for (size_t i = 0; i < in->head.field_nr; i++) {
		struct http1_part name = in->head.fields[i].name;

		nr += name.len == strlen(o->user_header) &&
		      !strncasecmp(in->bytes + name.off, o->user_header,
				   name.len);
	}
	if (nr == 1)
		*user = field(in, o->user_header);
	return nr <= 1;
}

static int enter(void *ctx, const char *path, const struct repo **repo,
		 struct error *err)
{
	struct daemon_request *q = ctx;
	int ret = daemon_snapshots_enter(q->snapshots, &q->use, path, repo,
					 err);

	if (ret < 0 || !q->options->trace)
		return ret;
	/* Requests share the repository, but each has a trace of its own. */
	trace_init_thread(&q->trace, q->options->trace);
	q->repo = **repo;
	q->repo.trace = &q->trace;
	*repo = &q->repo;
	return 0;
}

static int objects(void *ctx, struct odb **odb, struct error *warning,
		   struct error *err)
{
	struct daemon_request *q = ctx;

	return daemon_snapshots_objects(q->snapshots, &q->use, odb, warning,
					err);
}

static void write_log(void *ctx, const char *line)
{
	struct daemon_request *q = ctx;

	daemon_log(q->options, q->conn, line);
}

static void fill(struct daemon_request *q, const struct buf *path,
		 const char *user)
{
	const struct daemon_options *o = q->options;
	struct daemon_input *in = q->conn->input;
	bool is_old = !in->head.minor;

	q->http = (struct http_options){
		.request_method = string_at(in, in->head.method),
		.server_protocol = is_old ? "HTTP/1.0" : "HTTP/1.1",
		.project_root = o->base_path,
		.path_info = path->data,
		.query_string = string_at(in, in->head.query),
		.content_type = field(in, "Content-Type"),
		.content_length = field(in, "Content-Length"),
		.content_encoding = field(in, "Content-Encoding"),
		.git_protocol = field(in, "Git-Protocol"),
		.remote_user = user,
		.export_all = o->export_all,
		.namespace = o->namespace,
		.agent = o->agent,
		.session_id = o->session_id,
		.enter = enter,
		.objects = objects,
		.log = write_log,
		.ctx = q,
		.form = is_old ? HTTP_1_0 : HTTP_1_1,
		.keep_alive = in->head.keep_alive && !q->conn->is_last,
	};
}

/* Answer with a status, without a repository. Returns 0 or ERR_PEER. */
static int refuse(struct daemon_request *q, const char *status)
{
	struct http_reply reply;
	int ret;

	daemon_log(q->options, q->conn, status);
	http_reply_init(&reply, &q->io, false);
	reply.form = HTTP_1_1;
	ret = http_reply_refuse(&reply, status, NULL, NULL, NULL);
	http_reply_release(&reply);
	return ret;
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
 * Keep the bytes behind the body for the next request. Returns whether the body
 * was read to its end.
 */
static bool finish_input(struct daemon_request *q)
{
	struct daemon_input *in = q->conn->input;
	struct http1_piece piece;
	int ret;

	do {
		ret = http1_body_next(&q->body, in->bytes + q->at,
				      in->len - q->at, &piece, NULL);
		q->at += piece.off + piece.len;
	} while (!ret && q->at < in->len);
	if (ret <= 0)
		return false;
	in->len -= q->at;
	memmove(in->bytes, in->bytes + q->at, in->len);
	http1_head_init(&in->head);
	return true;
}

/*
 * Answer, in this thread or in a child process. If the repository has crashed
 * workers, only a child may answer; if children, too, nobody. Returns 0 or a
 * negative error code.
 */
static int answer_guarded(struct daemon_request *q, bool *is_kept,
			  struct error *err)
{
	struct daemon_conn *conn = q->conn;
	const char *path = q->http.path_info;
	struct http_url url;
	size_t len = http_url_parse(&url, path) ? url.repo_len : strlen(path);
	enum daemon_verdict verdict = daemon_suspects_judge(
		conn->suspects, path, len, sys_clock_ns());
	int ret;

	if (verdict == DAEMON_GUILTY) {
		refuse(q, "503 Service Unavailable");
		return error_set(err, ERR_DENIED,
				 "'%.*s' is refused: its requests crash",
				 (int)len, path);
	}
	if (verdict == DAEMON_SUSPECT || daemon_needs_child(q)) {
		ret = daemon_run_child(q, is_kept, err);
		if (verdict == DAEMON_SUSPECT && q->child_status > 128)
			daemon_suspects_convict(conn->suspects, path, len,
						sys_clock_ns());
		return ret;
	}
	daemon_slot_enter(conn->slot, path, len);
	ret = http_serve(&q->http, &q->io, is_kept, err);
	daemon_slot_leave(conn->slot);
	return ret;
}

/* Returns whether the connection can be used for a further request. */
static bool answer(struct daemon_request *q, const struct buf *path)
{
	struct error err = ERROR_INIT;
	const char *user;
	bool is_kept = false;
	int ret;

	/* http_serve() would answer 500, as behind a web server. */
	if (!http_path_is_plain(path->data) || !find_user(&user, q)) {
		refuse(q, "400 Bad Request");
		return false;
	}
	fill(q, path, user);
	ret = answer_guarded(q, &is_kept, &err);
	if (ret < 0)
		daemon_log(q->options, q->conn, err.msg);
	if (q->repo.trace)
		trace_release(&q->trace);
	daemon_snapshots_leave(q->snapshots, &q->use);
	return !ret && is_kept && finish_input(q);
}

void daemon_serve(const struct daemon_options *options,
		  struct daemon_snapshots *snapshots, struct daemon_conn *conn)
{
	struct daemon_request q = {
		.options = options,
		.snapshots = snapshots,
		.conn = conn,
		.at = conn->input->head.len,
		.wants_continue = conn->input->head.expects_continue,
		.patience = {.limit_ms = options->timeout * 1000},
		.io = {.read = read_body, .writev = write_socket},
	};
	struct http1_head *head = &conn->input->head;
	struct buf path = BUF_INIT;
	bool is_kept = false;

	q.io.ctx = &q;
	http1_body_init(&q.body, head);
	if (head->status)
		refuse(&q, status_line(head->status));
	else if (!http1_head_path(&path, head, conn->input->bytes))
		is_kept = answer(&q, &path);
	conn->after = is_kept ? DAEMON_IDLE : DAEMON_LINGER;
	buf_release(&path);
}
