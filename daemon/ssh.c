/* SPDX-License-Identifier: MIT */
/*
 * Answers a client of ssh, in a thread. `gitreachd --ssh-client`, the forced
 * command of sshd, has sent its descriptors. The answer to this command is one
 * byte, the exit code. Messages to the user go to the standard error of ssh.
 */
#include <stdio.h>
#include <string.h>

#include "daemon/daemon-parts.h"
#include "daemon/ssh-request.h"
#include "sys/io.h"
#include "sys/passing.h"

/*
 * Runs the service if the access helper allows it. Returns the exit code for
 * the forced command.
 */
static int run_allowed(struct daemon_talk *t, const struct repo *repo)
{
	int ret = daemon_talk_authorize(t, repo);

	if (ret >= 0)
		return daemon_talk_run(t, repo);
	daemon_talk_tell(t, "fatal",
			 ret == ERR_DENIED ? "access denied"
					   : "service unavailable");
	return 128;
}

/*
 * Opens the repository and answers the request. Returns the exit code for the
 * forced command.
 */
static int answer(struct daemon_talk *t)
{
	struct error err = ERROR_INIT;
	struct repo *repo = NULL;
	char line[1024];
	int ret = daemon_talk_open(&repo, t, &err);

	if (!ret) {
		ret = run_allowed(t, repo);
		daemon_talk_close(t, repo);
		return ret;
	}
	if (ret == ERR_MISSING)
		snprintf(line, sizeof(line),
			 "'%.900s' does not appear to be a git repository",
			 t->path);
	daemon_talk_tell(t, "fatal", ret == ERR_MISSING ? line : err.msg);
	return 128;
}

/*
 * Answers the request. The descriptors of the client are non-blocking during
 * the answer, and then get their old mode back. Returns the exit code for the
 * forced command.
 */
static int answer_unblocked(struct daemon_talk *t)
{
	bool in_blocks, out_blocks;
	int code = 128;

	if (!sys_passing_unblock(t->in, &in_blocks)) {
		daemon_talk_tell(t, "fatal", "standard input is no pipe");
		return code;
	}
	if (sys_passing_unblock(t->out, &out_blocks)) {
		code = answer(t);
		if (out_blocks)
			sys_passing_block(t->out);
	} else {
		daemon_talk_tell(t, "fatal", "standard output is no pipe");
	}
	if (in_blocks)
		sys_passing_block(t->in);
	return code;
}

static int serve(struct daemon_talk *t, const char *bytes, size_t len)
{
	struct error err = ERROR_INIT;
	struct ssh_request request;

	if (ssh_request_parse(&request, bytes, len, &err) < 0) {
		daemon_talk_tell(t, "fatal", err.msg);
		return 128;
	}
	t->service = request.service;
	t->path = request.path;
	t->protocol = request.protocol;
	t->user = request.user;
	t->address = request.address;
	return answer_unblocked(t);
}

void daemon_serve_ssh(const struct daemon_options *options,
		      struct daemon_conn *conn)
{
	struct daemon_talk t = {
		.options = options,
		.conn = conn,
		.user = "",
		.address = "",
		.access = {.hidden = BUF_INIT},
		.patience = {.limit_ms = options->timeout * 1000},
	};
	char bytes[SSH_REQUEST_MAX], code;
	int fds[3];
	ssize_t n = sys_passing_receive(conn->stream.fd, bytes, sizeof(bytes),
					fds, 3, NULL);

	conn->after = DAEMON_LINGER;
	if (n < 0) {
		daemon_log(options, conn, "no valid message has arrived");
		return;
	}
	t.in = fds[0];
	t.out = fds[1];
	t.err = fds[2];
	code = (char)serve(&t, bytes, (size_t)n);
	for (int i = 0; i < 3; i++)
		sys_close(fds[i]);
	sys_passing_send(conn->stream.fd, &code, 1, NULL, 0, NULL);
}
