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
 * The text of an "ERR" packet for a temporary failure. A client can try again
 * later, so it always gets this text, even if informative errors are not
 * configured.
 */
static const char unavailable[] = "service unavailable";

/*
 * Refuses the request. `reason` and `detail` go to the log, unless the log has
 * a line because the access helper has denied the request. The client gets
 * `reason` only if informative errors are configured, or if the reason is
 * "service unavailable". Otherwise the client gets a general text.
 */
static void refuse(struct daemon_talk *t, const char *reason,
		   const char *detail)
{
	const struct serve_io io = {.writev = daemon_talk_write, .ctx = t};
	struct pktline_writer out;
	char line[PKTLINE_QUOTE_MAX + 256];

	snprintf(line, sizeof(line), "%s: %s: %s", service_name(t->service),
		 reason, detail);
	if (!t->is_denied)
		daemon_log(t->answer.options, t->answer.conn, line);
	if (!t->answer.options->informative_errors &&
	    strcmp(reason, unavailable) != 0)
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
static const char *find_fault(struct daemon_talk *t, struct error *err)
{
	const struct daemon_options *o = t->answer.options;
	const struct repo *repo = t->answer.entered;
	int ret = daemon_talk_authorize(t);

	if (ret < 0)
		return ret == ERR_DENIED ? "access denied" : unavailable;
	if (!ret && !o->export_all && http_is_exported(repo, err) <= 0)
		return "repository not exported";
	if (service_is_enabled(&o->services, t->service, &repo->config, err) <=
	    0)
		return "service not enabled";
	/*
	 * This local copy may be outdated, because the store did not answer.
	 * Refuse a push: it must start from the newest state in the store.
	 */
	if (t->service == SERVICE_RECEIVE_PACK && t->place.use.is_stale)
		return unavailable;
	return NULL;
}

static void answer(struct daemon_talk *t)
{
	struct error err = ERROR_INIT;
	const struct service_rules *rules = &t->answer.options->services;
	const char *fault = "no such repository";
	int ret;

	/*
	 * If the service is disabled for all repositories, do not look whether
	 * the repository exists, as in git-daemon(1).
	 */
	if (rules->is_fixed[t->service] && !rules->is_enabled[t->service])
		fault = "service not enabled";
	else if (!(ret = daemon_talk_open(t, &err)))
		fault = find_fault(t, &err);
	else if (t->is_denied)
		fault = "access denied";
	else if (t->guard.is_refused || t->guard.is_suspect)
		fault = "requests for the repository are refused because "
			"earlier ones crashed a worker process";
	else if (t->answer.conn->copies && ret != ERR_MISSING &&
		 ret != ERR_DENIED)
		fault = unavailable;
	if (fault)
		refuse(t, fault, err.code ? err.msg : t->path);
	else
		daemon_talk_run(t);
}

/* Parses the first pkt-line, and begins the conversation. */
static struct daemon_talk *begin(const struct daemon_options *options,
				 struct daemon_conn *conn)
{
	struct error err = ERROR_INIT;
	struct git_request request;
	struct daemon_talk *t;

	if (git_request_parse(&request, conn->input->bytes, conn->input->len,
			      &err) < 0) {
		daemon_log(options, conn, err.msg);
		return NULL;
	}
	conn->input->len = 0;
	t = daemon_talk_new(options, conn, request.service, request.path,
			    request.protocol, "");
	if (!t) {
		daemon_log(options, conn, "out of memory");
		return NULL;
	}
	t->in.fd = t->out.fd = conn->stream.fd;
	strcpy(t->address, conn->address);
	return t;
}

/* Answers the next command of a client, if there is one. */
static void go_on(struct daemon_talk *t)
{
	struct error err = ERROR_INIT;
	int ret = daemon_talk_listen(t, &err);

	if (ret > 0)
		answer(t);
	else if (ret < 0)
		daemon_talk_tell(t, "fatal", err.msg);
}

void daemon_serve_git(const struct daemon_options *options,
		      struct daemon_conn *conn)
{
	struct daemon_talk *t = conn->talk;
	const bool is_new = !t;

	conn->after = DAEMON_LINGER;
	if (is_new)
		t = begin(options, conn);
	if (!t)
		return;
	if (conn->is_excess)
		daemon_talk_refuse_excess(t);
	else if (is_new)
		answer(t);
	else
		go_on(t);
	daemon_talk_pause(t);
}
