/* SPDX-License-Identifier: MIT */
/*
 * Pushes and archives: `git http-backend` in a child process answers, and this
 * thread copies the request to the child and the answer to the client. A push
 * needs a process of its own: it runs hooks, changes the working directory and
 * unpacks data that a client sent.
 *
 * The child usually reads the whole request before it writes its answer. So the
 * thread first copies the request, then the answer. But a child may also answer
 * without reading the rest of the request: if the rest is not needed, or after
 * an error. So the thread keeps what the child writes meanwhile, up to
 * EARLY_MAX bytes. If the child writes more, the thread drops the rest of the
 * request, and copies the answer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "access/access.h"
#include "base/buf.h"
#include "base/mem.h"
#include "daemon/daemon-parts.h"
#include "http/http-exchange.h"
#include "sys/io.h"
#include "sys/process.h"
#include "sys/spawn.h"

#define PIECE 16384
#define EARLY_MAX 65536
#define VARIABLES_MAX 20

bool daemon_needs_child(const struct daemon_request *request)
{
	struct http_url url;

	if (!http_url_parse(&url, request->http.path_info))
		return false;
	if (url.route == HTTP_UPLOAD_PACK)
		return request->options->is_hooked;
	return url.route == HTTP_UPLOAD_ARCHIVE || daemon_is_push(request);
}

const char *daemon_service_of(const struct daemon_request *request)
{
	enum service service = SERVICE_UPLOAD_PACK;
	struct buf name = BUF_INIT;
	struct http_url url;

	if (!http_url_parse(&url, request->http.path_info))
		return service_name(service);
	if (url.route == HTTP_RECEIVE_PACK)
		service = SERVICE_RECEIVE_PACK;
	if (url.route == HTTP_UPLOAD_ARCHIVE)
		service = SERVICE_UPLOAD_ARCHIVE;
	if (url.route == HTTP_INFO_REFS) {
		http_query_get(&name, request->http.query_string, "service");
		if (!strncmp(name.data, "git-", 4))
			service_find(&service, name.data + 4, name.len - 4);
		buf_release(&name);
	}
	return service_name(service);
}

bool daemon_is_push(const struct daemon_request *request)
{
	return !strcmp(daemon_service_of(request),
		       service_name(SERVICE_RECEIVE_PACK));
}

/*
 * The environment of the child process: strings that end with NUL, one after
 * the other.
 */
struct variables {
	struct buf text;
	size_t offs[VARIABLES_MAX];
	size_t nr;
	int ret;
};

static void set(struct variables *v, const char *name, const char *value)
{
	v->offs[v->nr++] = v->text.len;
	v->ret |= buf_printf(&v->text, "%s=%s", name, value ? value : "");
	v->ret |= buf_append_char(&v->text, '\0');
}

/*
 * Sets GIT_PROJECT_ROOT and PATH_INFO. If the repository is a local copy of one
 * in a store, both are made from the path of the copy. Otherwise they are taken
 * from the request.
 */
static void set_path(struct variables *v, const struct daemon_request *q)
{
	const struct http_options *o = &q->http;
	const char *dir = q->place.use.copy ? q->place.path : NULL, *name;
	struct buf root = BUF_INIT, info = BUF_INIT;

	if (!dir) {
		set(v, "GIT_PROJECT_ROOT", o->project_root);
		set(v, "PATH_INFO", o->path_info);
		return;
	}
	name = strrchr(dir, '/');
	v->ret |= buf_append(&root, dir, (size_t)(name - dir));
	v->ret |= buf_printf(&info, "%s%s", name, o->path_info + q->repo_len);
	set(v, "GIT_PROJECT_ROOT", root.data);
	set(v, "PATH_INFO", info.data);
	buf_release(&root);
	buf_release(&info);
}

/*
 * Fills the environment of the child. In most variables, an empty text counts
 * as unset, so a missing value becomes an empty variable. In STORED_COPY_ASKED,
 * GIT_HTTP_EXPORT_ALL and the access helper's variables, an empty text counts
 * as set, so they are added only if they apply. `note` is the descriptor of
 * HTTP_TELL.
 */
static void fill(struct variables *v, const struct daemon_request *q, int note)
{
	char number[16];
	const struct http_options *o = &q->http;

	set(v, "GATEWAY_INTERFACE", "CGI/1.1");
	set(v, "SERVER_PROTOCOL", o->server_protocol);
	set(v, "REQUEST_METHOD", o->request_method);
	set_path(v, q);
	set(v, "PATH_TRANSLATED", "");
	set(v, "QUERY_STRING", o->query_string);
	set(v, "CONTENT_TYPE", o->content_type);
	set(v, "CONTENT_LENGTH", o->content_length);
	set(v, "HTTP_CONTENT_ENCODING", o->content_encoding);
	set(v, "HTTP_GIT_PROTOCOL", o->git_protocol);
	set(v, "REMOTE_ADDR", q->client);
	set(v, "REMOTE_USER", o->remote_user);
	set(v, "HTTP_TRACEPARENT", q->answer.about.traceparent);
	snprintf(number, sizeof(number), "%d", note);
	set(v, HTTP_TELL, number);
	if (stored_copies_were_asked(q->conn->copies, &q->place.use))
		set(v, STORED_COPY_ASKED, q->place.path);
	if (o->export_all)
		set(v, "GIT_HTTP_EXPORT_ALL", "1");
	if (q->answer.access.hidden_nr) {
		v->offs[v->nr++] = v->text.len;
		v->ret |= access_environment(&v->text, &q->answer.access);
		v->ret |= buf_append_char(&v->text, '\0');
	}
}

static int start(struct sys_child *child, const struct daemon_request *q,
		 int note, struct error *err)
{
	const char *argv[] = {"git", "http-backend", NULL};
	const char *words[VARIABLES_MAX];
	struct variables v = {.text = BUF_INIT};
	char **env = NULL;
	int ret;

	fill(&v, q, note);
	for (size_t i = 0; i < v.nr; i++)
		words[i] = v.text.data + v.offs[i];
	if (!v.ret)
		env = sys_environ_with(words, v.nr);
	ret = env ? sys_spawn_keeping(child, (char *const *)argv, env, note,
				      SYS_SPAWN_PIPE_IN | SYS_SPAWN_PIPE_OUT |
					      SYS_SPAWN_OPEN_SIGNALS,
				      err)
		  : error_nomem(err);
	free(env);
	buf_release(&v.text);
	return ret;
}

/* The child, and what it writes before it gets the end of the request. */
struct early {
	struct sys_child *child;
	struct buf *answer;
};

static int keep_early(void *ctx, const char *bytes, size_t len,
		      struct error *err)
{
	const struct early *early = ctx;

	if (early->answer->len > EARLY_MAX)
		sys_spawn_close_in(early->child);
	return buf_append(early->answer, bytes, len) < 0 ? error_nomem(err) : 0;
}

/*
 * Copies the request to the child, until the child does not read further bytes.
 * Appends what the child writes meanwhile to *answer. Returns 0, or ERR_PEER if
 * the client ends the connection too early, or another negative error code.
 */
static int feed(struct sys_child *child, struct daemon_request *q,
		struct buf *answer, struct error *err)
{
	struct early early = {child, answer};
	char bytes[PIECE];
	ssize_t n = 0;
	int ret = 0;

	while (!ret && child->in >= 0 &&
	       (n = q->io.read(q, bytes, sizeof(bytes), err)) > 0)
		ret = sys_spawn_put(child, bytes, (size_t)n, keep_early, &early,
				    err);
	sys_spawn_close_in(child);
	return n < 0 ? (int)n : ret;
}

/*
 * Handles the header line at *p, and moves *p to the next line. Returns 1 for a
 * header, 0 for the empty line after the headers, or ERR_NOMEM.
 */
static int take_line(struct http_reply *reply, char **p, struct error *err)
{
	char *line = *p, *end = strstr(line, "\r\n"), *value;

	*p = end + 2;
	if (end == line)
		return 0;
	*end = '\0';
	value = strchr(line, ':');
	if (!value)
		return 1;
	*value++ = '\0';
	value += strspn(value, " ");
	if (!strcasecmp(line, "Status")) {
		reply->status = value;
		return 1;
	}
	reply->has_length |= !strcasecmp(line, "Content-Length");
	reply->has_date |= !strcasecmp(line, "Date");
	return http_reply_header(reply, line, value, err) < 0 ? ERR_NOMEM : 1;
}

/*
 * Reads bytes of the child's answer. Returns their number, 0 at the end of the
 * answer, or a negative error code.
 */
static ssize_t read_answer(const struct sys_child *child, void *bytes,
			   size_t len, struct error *err)
{
	return child->out < 0 ? 0
			      : sys_read_some(child->out, bytes, len,
					      "http-backend", err);
}

/* Reads the child's headers into *head. Returns 0 or a negative error code. */
static int read_head(const struct sys_child *child, struct buf *head,
		     struct error *err)
{
	while (!strstr(head->data, "\r\n\r\n")) {
		ssize_t n;

		if (head->len > DAEMON_HEAD_MAX || buf_reserve(head, PIECE) < 0)
			return error_nomem(err);
		n = read_answer(child, head->data + head->len, PIECE, err);
		if (n <= 0)
			return n < 0 ? (int)n
				     : error_set(err, ERR_IO,
						 "http-backend ended without "
						 "an answer");
		buf_set_len(head, head->len + (size_t)n);
	}
	return 0;
}

/* Copies the child's answer to the client. */
static int relay(const struct sys_child *child, struct http_reply *reply,
		 struct buf *head, struct error *err)
{
	char bytes[PIECE], *p;
	int ret = read_head(child, head, err);
	ssize_t n;

	if (ret < 0)
		return ret;
	p = head->data;
	do {
		ret = take_line(reply, &p, err);
	} while (ret > 0);
	if (ret < 0)
		return ret;
	n = head->data + head->len - p;
	if (n)
		ret = http_reply_put(reply, p, (size_t)n, err);
	while (!ret && (n = read_answer(child, bytes, sizeof(bytes), err)) > 0)
		ret = http_reply_put(reply, bytes, (size_t)n, err);
	return ret < 0 ? ret : (int)n;
}

/* Reads the times that the child has written into the file `note`. */
static void take_note(struct summary_times *times, int note)
{
	char line[SUMMARY_TIMES_MAX + 1];
	ssize_t n = note < 0 ? 0
			     : sys_read_some(note, line, sizeof(line) - 1,
					     "note", NULL);

	line[n > 0 ? n : 0] = '\0';
	summary_times_parse(times, line);
}

int daemon_run_child(struct daemon_request *request,
		     struct admission_pass *pass, bool *is_kept,
		     struct error *err)
{
	struct buf head = BUF_INIT;
	struct sys_child child;
	struct http_reply reply;
	/* Without this file, the times of the request stay unknown. */
	int note = sys_memory_open(NULL), ret, status;

	http_reply_init(&reply, &request->io,
			!strcmp(request->http.request_method, "HEAD"));
	reply.form = request->http.form;
	reply.keep_alive = request->http.keep_alive;
	ret = start(&child, request, note, err);
	if (!ret) {
		ret = feed(&child, request, &head, err);
		if (!ret)
			ret = relay(&child, &reply, &head, err);
		if (ret < 0)
			daemon_admit_end(pass, request->options, request->conn,
					 &child, -1);
		status = sys_spawn_wait(&child, ret < 0 ? NULL : err);
		request->child_status = status;
		request->child_cpu_us = child.cpu_us;
		take_note(&request->child_times, note);
		if (!ret && status && status != HTTP_EXIT_FAILED)
			ret = error_set(err, ERR_IO,
					"http-backend failed with status %d",
					status);
	}
	if (ret < 0 && ret != ERR_PEER && !reply.has_begun)
		http_reply_refuse(&reply, "500 Internal Server Error", NULL,
				  NULL, NULL);
	if (!ret)
		ret = http_reply_end(&reply, err);
	*is_kept = !ret && reply.keep_alive;
	http_reply_release(&reply);
	buf_release(&head);
	sys_close(note);
	return ret;
}
