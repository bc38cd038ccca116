/* SPDX-License-Identifier: MIT */
/*
 * Answers a client of ssh, in a thread. The forced command of sshd, `gitreachd
 * --ssh-client`, has sent its standard input, output and error to the server as
 * descriptors. When the request ends, the server sends one byte back to the
 * command: the exit code. Messages to the user go to the standard error of ssh.
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
static int run_allowed(struct daemon_talk *t)
{
	int ret = daemon_talk_authorize(t);

	if (ret >= 0)
		return daemon_talk_run(t);
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
	char line[1024];
	int ret = daemon_talk_open(t, &err);

	if (!ret)
		return run_allowed(t);
	if (ret == ERR_MISSING)
		snprintf(line, sizeof(line),
			 "'%.900s' does not appear to be a git repository",
			 t->path);
	daemon_talk_tell(t, "fatal", ret == ERR_MISSING ? line : err.msg);
	return 128;
}

/*
 * Opens the descriptors of t->in and t->out, which carry the client's bytes.
 * Returns 0. If a descriptor is no pipe, tells the user, and returns 128. The
 * command that sshd has started then exits with this code.
 */
static int open_streams(struct daemon_talk *t)
{
	static const char *const messages[] = {"standard input is not a pipe",
					       "standard output is not a pipe"};

	for (int i = 0; i < 2; i++)
		if (sys_passing_open(&t->ends[i], t->fds[i], i == 1) < 0) {
			daemon_talk_tell(t, "fatal", messages[i]);
			return 128;
		}
	t->in.fd = t->ends[0].fd;
	t->out.fd = t->ends[1].fd;
	return 0;
}

/* Tells the user why a message is refused, and ends the forced command. */
static void refuse_message(const struct daemon_options *options,
			   struct daemon_conn *conn, const int fds[3],
			   const char *message)
{
	char line[1024], code = (char)128;

	daemon_log(options, conn, message);
	snprintf(line, sizeof(line), "fatal: %s\n", message);
	sys_write_ready(fds[2], line, strlen(line), DAEMON_TELL_MS);
	for (int i = 0; i < 3; i++)
		sys_close(fds[i]);
	sys_passing_send(conn->stream.fd, &code, 1, NULL, 0, NULL);
}

/* Parses the message of the forced command, and begins the conversation. */
static struct daemon_talk *begin(const struct daemon_options *options,
				 struct daemon_conn *conn)
{
	struct error err = ERROR_INIT;
	struct ssh_request request;
	struct daemon_talk *t = NULL;
	char bytes[SSH_REQUEST_MAX];
	int fds[3];
	ssize_t n = sys_passing_receive(conn->stream.fd, bytes, sizeof(bytes),
					fds, 3, NULL);

	if (n < 0) {
		daemon_log(options, conn,
			   "received no valid message from gitreachd "
			   "--ssh-client");
		return NULL;
	}
	if (!ssh_request_parse(&request, bytes, (size_t)n, &err)) {
		t = daemon_talk_new(options, conn, request.service,
				    request.path, request.protocol,
				    request.user);
		if (!t)
			error_nomem(&err);
	}
	if (!t) {
		refuse_message(options, conn, fds, err.msg);
		return NULL;
	}
	memcpy(t->fds, fds, sizeof(fds));
	snprintf(t->address, sizeof(t->address), "%s", request.address);
	return t;
}

/*
 * Answers the next command of a client, if there is one. Returns the exit code
 * for the forced command.
 */
static int go_on(struct daemon_talk *t)
{
	struct error err = ERROR_INIT;
	int ret = daemon_talk_listen(t, &err);

	if (ret < 0)
		daemon_talk_tell(t, "fatal", err.msg);
	return ret > 0 ? answer(t) : ret < 0 ? 128 : 0;
}

void daemon_serve_ssh(const struct daemon_options *options,
		      struct daemon_conn *conn)
{
	struct daemon_talk *t = conn->talk;

	conn->after = DAEMON_LINGER;
	if (t) {
		t->code = go_on(t);
	} else {
		t = begin(options, conn);
		if (!t)
			return;
		t->code = open_streams(t);
		if (!t->code)
			t->code = answer(t);
	}
	daemon_talk_pause(t);
}
