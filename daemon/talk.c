/* SPDX-License-Identifier: MIT */
/*
 * A request in Git's own protocol, from its beginning to the end of the
 * connection: the repository, the descriptors, and messages to the user.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access/access.h"
#include "base/mem.h"
#include "daemon/daemon-parts.h"
#include "daemon/outbox.h"
#include "http/http-request.h"
#include "serve/upload-pack.h"
#include "sys/io.h"
#include "sys/passing.h"
#include "wire/pktline.h"

/*
 * Writes "<kind>: <message>" to the log, and to the user if the user's
 * descriptor accepts it within `wait_ms` milliseconds. The log already has a
 * line if the access helper has denied the request.
 */
static void tell(const struct daemon_talk *talk, const char *kind,
		 const char *message, int wait_ms)
{
	char line[1024], quoted[PKTLINE_QUOTE_MAX];
	int len;

	if (!talk->is_denied)
		daemon_log(talk->answer.options, talk->answer.conn, message);
	if (talk->fds[2] < 0)
		return;
	len = snprintf(line, sizeof(line), "%s: %s\n", kind,
		       pktline_quote(quoted, message));
	if (len > 0)
		sys_write_ready(talk->fds[2], line, strlen(line), wait_ms);
}

void daemon_talk_tell(const struct daemon_talk *talk, const char *kind,
		      const char *message)
{
	tell(talk, kind, message, DAEMON_TELL_MS);
}

static struct access_question question_of(const struct daemon_talk *talk)
{
	return (struct access_question){
		.user = talk->user,
		.service = service_name(talk->service),
		.repository = talk->path,
		.protocol = talk->answer.conn->protocol == DAEMON_SSH ? "ssh"
								      : "git",
		.address = talk->address,
	};
}

/* Records that the access helper has denied the request. */
static void note_denial(struct daemon_talk *talk)
{
	const struct access_question question = question_of(talk);

	talk->is_denied = true;
	daemon_note_denial(talk->answer.options, talk->answer.conn, &question,
			   talk->answer.entered);
}

static int find_place(struct daemon_talk *talk, struct error *err)
{
	struct daemon_inquiry inquiry = {question_of(talk),
					 &talk->answer.access};
	int ret = daemon_place_find(
		&talk->place, talk->answer.options, talk->answer.conn,
		talk->path, strlen(talk->path),
		talk->answer.options->strict_paths,
		talk->answer.conn->helper ? &inquiry : NULL, err);

	if (ret == ERR_DENIED)
		note_denial(talk);
	return ret;
}

/*
 * Applies the rules for repositories whose requests have crashed worker
 * processes (daemon/guard.h). A request for such a repository is refused, or is
 * answered by a child process, so that a crash ends only the child. Returns 0
 * if the command may be answered. Returns ERR_DENIED in two cases. The rules
 * refuse the request. Or the rules demand a child process, but a thread of this
 * process has already begun the fetch: a child process cannot continue it.
 */
static int enter_guard(struct daemon_talk *t, struct error *err)
{
	struct status_request request;
	int ret;

	daemon_describe(&request, t->answer.conn);
	ret = daemon_guard_enter(&t->guard, t->answer.conn, &request, err);
	t->is_guarded = !ret;
	/*
	 * A fetch that a thread has begun cannot be continued in a child
	 * process.
	 */
	return !ret && t->guard.is_suspect && t->has_begun
		       ? error_set(err, ERR_DENIED,
				   "requests for '%s' are refused because "
				   "earlier ones crashed a worker process",
				   t->path)
		       : ret;
}

int daemon_talk_open(struct daemon_talk *talk, struct error *err)
{
	int ret;

	if (!http_path_is_plain(talk->path))
		return error_set(err, ERR_DENIED, "'%s': aliased", talk->path);
	ret = enter_guard(talk, err);
	if (!ret && !talk->place.path)
		ret = find_place(talk, err);
	if (!ret)
		ret = daemon_answer_enter(&talk->answer, talk->place.path,
					  talk->answer.options->strict_paths,
					  err);
	return ret;
}

void daemon_talk_pause(struct daemon_talk *talk)
{
	struct daemon_output *out = &talk->answer.output;
	struct daemon_conn *conn = talk->answer.conn;
	struct daemon_input *in = conn->input;

	if (talk->is_guarded)
		daemon_guard_leave(&talk->guard, talk->child_status);
	talk->is_guarded = false;
	/* Keep the bytes that were not read: they begin the next command. */
	if (in) {
		in->len -= talk->at;
		memmove(in->bytes, in->bytes + talk->at, in->len);
		talk->at = 0;
	}
	if (outbox_is_empty(&out->box))
		daemon_answer_end(&talk->answer, NULL);
	else
		conn->unsent = out;
}

/* ---- beginning and end */

struct daemon_talk *daemon_talk_new(const struct daemon_options *options,
				    struct daemon_conn *conn,
				    enum service service, const char *path,
				    const char *protocol, const char *user)
{
	struct daemon_talk *t = mem_calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	daemon_answer_init(&t->answer, options, conn, &t->out);
	t->service = service;
	t->version = serve_protocol_version(protocol);
	t->path = mem_strdup(path);
	t->protocol = mem_strdup(protocol);
	t->user = mem_strdup(user);
	t->in.fd = t->out.fd = -1;
	for (int i = 0; i < 3; i++)
		t->fds[i] = -1;
	conn->talk = t;
	if (t->path && t->protocol && t->user)
		return t;
	t->code = 128;
	daemon_talk_free(conn);
	return NULL;
}

void daemon_talk_end_answer(struct daemon_conn *conn, const struct error *err)
{
	struct daemon_talk *t = conn->talk;

	conn->unsent = NULL;
	if (err) {
		t->code = 128;
		/* The loop must not wait. */
		tell(t, "fatal", err->msg, 0);
	}
	daemon_answer_end(&t->answer, err);
}

void daemon_talk_give_up(struct daemon_conn *conn)
{
	conn->talk->code = 128;
	tell(conn->talk, "fatal", "the client is too slow", 0);
}

void daemon_talk_free(struct daemon_conn *conn)
{
	struct daemon_talk *t = conn->talk;
	char code = (char)t->code;

	daemon_answer_release(&t->answer);
	daemon_place_release(&t->place);
	if (conn->protocol == DAEMON_SSH) {
		sys_passing_close(&t->ends[0]);
		sys_passing_close(&t->ends[1]);
		for (int i = 0; i < 3; i++)
			sys_close(t->fds[i]);
		sys_passing_send(conn->stream.fd, &code, 1, NULL, 0, NULL);
	}
	free(t->asked);
	free(t->path);
	free(t->protocol);
	free(t->user);
	free(t);
	conn->talk = NULL;
}

int daemon_input_fd(const struct daemon_conn *conn)
{
	return conn->talk ? conn->talk->in.fd : conn->stream.fd;
}

int daemon_output_fd(const struct daemon_conn *conn)
{
	return conn->talk ? conn->talk->out.fd : conn->stream.fd;
}

int daemon_talk_authorize(struct daemon_talk *talk)
{
	struct daemon_answer *a = &talk->answer;
	struct access_question question = question_of(talk);
	int ret;

	if (!a->conn->helper)
		return 0;
	if (a->conn->copies)
		return 1;
	/* The helper is asked once for each repository of a connection. */
	if (talk->asked && !strcmp(talk->asked, a->entered->git_dir))
		return 1;
	access_answer_release(&a->access);
	a->access = (struct access_answer){.hidden = BUF_INIT};
	free(talk->asked);
	talk->asked = NULL;
	ret = daemon_authorize(&a->access, a->options, a->conn, &question,
			       a->entered);
	if (ret == ERR_DENIED)
		note_denial(talk);
	if (ret < 0)
		return ret;
	talk->asked = mem_strdup(a->entered->git_dir);
	return 1;
}

/* ---- output */

int daemon_talk_write(void *ctx, struct iovec *iov, size_t nr,
		      struct error *err)
{
	struct daemon_talk *t = ctx;

	return daemon_output_writev(&t->answer.output, iov, nr, err);
}

const char *daemon_talk_principal(struct daemon_talk *talk)
{
	if (*talk->user)
		return talk->user;
	trusted_client_name(talk->client, talk->address);
	return talk->client;
}
