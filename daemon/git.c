/* SPDX-License-Identifier: MIT */
/*
 * Answers a client of git://, in a thread. A refused client gets one "ERR"
 * packet with the text of git-daemon(1). A client whose first pkt-line is not
 * valid gets no answer.
 */
#include <stdio.h>
#include <string.h>

#include "daemon/daemon-parts.h"
#include "daemon/git-request.h"
#include "http/http.h"
#include "wire/pktline.h"

/*
 * The text of an "ERR" packet for a temporary failure. All clients get this
 * text, even if errors are not informative, because a client can try again
 * later.
 */
static const char unavailable[] = "service unavailable";

static int write_socket(void *ctx, struct iovec *iov, size_t nr,
			struct error *err)
{
	struct daemon_talk *t = ctx;

	return sys_socket_writev(t->out, iov, nr, &t->patience, err);
}

/* Refuse the request. `reason` is for the client if errors are informative. */
static void refuse(struct daemon_talk *t, const char *reason,
		   const char *detail)
{
	struct serve_io io = {.writev = write_socket, .ctx = t};
	struct pktline_writer out;
	char line[PKTLINE_QUOTE_MAX + 256];

	snprintf(line, sizeof(line), "%s: %s: %s", service_name(t->service),
		 reason, detail);
	daemon_log(t->options, t->conn, line);
	if (!t->options->informative_errors && strcmp(reason, unavailable) != 0)
		reason = "access denied or repository not exported";
	pktline_writer_init(&out, &io);
	if (!pktline_printf(&out, NULL, "ERR %s: %s", reason, t->path))
		pktline_send(&out, NULL);
	pktline_writer_release(&out);
}

/*
 * Returns NULL if the request is allowed, or the reason for a refusal as a
 * static string. *err may have more details.
 */
static const char *find_fault(struct daemon_talk *t, const struct repo *repo,
			      struct error *err)
{
	const struct daemon_options *o = t->options;
	int ret = daemon_talk_authorize(t, repo);

	if (ret < 0)
		return ret == ERR_DENIED ? "access denied" : unavailable;
	if (!ret && !o->export_all && http_is_exported(repo, err) <= 0)
		return "repository not exported";
	if (service_is_enabled(&o->services, t->service, &repo->config, err) <=
	    0)
		return "service not enabled";
	/*
	 * A push must be made on the newest generation, but this local copy may
	 * be old because the store did not answer.
	 */
	if (t->service == SERVICE_RECEIVE_PACK && t->place.use.is_stale)
		return unavailable;
	return NULL;
}

static void answer(struct daemon_talk *t)
{
	struct error err = ERROR_INIT;
	struct repo *repo = NULL;
	const struct service_rules *rules = &t->options->services;
	const char *fault = "no such repository";
	int ret;

	/*
	 * Like git-daemon(1), do not look whether the repository exists in this
	 * case.
	 */
	if (rules->is_fixed[t->service] && !rules->is_enabled[t->service])
		fault = "service not enabled";
	else if (!(ret = daemon_talk_open(&repo, t, &err)))
		fault = find_fault(t, repo, &err);
	else if (t->is_denied)
		fault = "access denied";
	else if (t->guard.is_refused)
		fault = "requests for the repository crash";
	else if (t->conn->copies && ret != ERR_MISSING && ret != ERR_DENIED)
		fault = unavailable;
	if (fault)
		refuse(t, fault, err.code ? err.msg : t->path);
	else
		daemon_talk_run(t, repo);
	daemon_talk_close(t, repo);
}

void daemon_serve_git(const struct daemon_options *options,
		      struct daemon_conn *conn)
{
	struct error err = ERROR_INIT;
	struct git_request request;
	struct daemon_talk t = {
		.options = options,
		.conn = conn,
		.path = request.path,
		.protocol = request.protocol,
		.in = conn->stream.fd,
		.out = conn->stream.fd,
		.user = "",
		.address = conn->address,
		.access = {.hidden = BUF_INIT},
		.patience = {.limit_ms = options->timeout * 1000},
	};

	conn->after = DAEMON_LINGER;
	if (git_request_parse(&request, conn->input->bytes, conn->input->len,
			      &err) < 0) {
		daemon_log(options, conn, err.msg);
		return;
	}
	t.service = request.service;
	if (conn->is_excess)
		daemon_talk_refuse_excess(&t);
	else
		answer(&t);
}
