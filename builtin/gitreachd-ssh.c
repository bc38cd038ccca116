/* SPDX-License-Identifier: MIT */
/*
 * gitreachd --ssh-client: the forced command of sshd. It passes its descriptors
 * and the client's command to the server, and waits for the exit code.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "builtin/gitreachd.h"
#include "builtin/options.h"
#include "daemon/ssh-request.h"
#include "sys/io.h"
#include "sys/passing.h"

static const char usage[] = "gitreachd --ssh-client=<socket> [--user=<name>]";

/*
 * Append the address of the client: the first word of the variable SSH_CLIENT.
 */
static int add_address(struct buf *out)
{
	const char *client = getenv("SSH_CLIENT");

	return client ? buf_append(out, client, strcspn(client, " ")) : 0;
}

static int make_message(struct buf *out, const char *command, const char *user)
{
	struct buf address = BUF_INIT;
	int ret = add_address(&address);

	if (!ret)
		ret = ssh_request_format(out, command, getenv("GIT_PROTOCOL"),
					 user, address.data);
	buf_release(&address);
	return ret;
}

/*
 * Pass the request to the server that listens on the socket file `path`, and
 * wait until the server has answered the request. Returns the exit code that
 * the server sends, or a negative error code.
 */
static int ask(const char *path, const struct buf *message, struct error *err)
{
	const int fds[] = {0, 1, 2};
	unsigned char code;
	int fd = sys_passing_connect(path, 0, err), ret;

	if (fd < 0)
		return fd;
	ret = sys_passing_send(fd, message->data, message->len, fds, 3, err);
	if (!ret && sys_passing_receive(fd, &code, 1, NULL, 0, NULL) < 0)
		ret = error_set(
			err, ERR_PEER,
			"the server closed the connection before it answered");
	sys_close(fd);
	return ret < 0 ? ret : code;
}

int gitreachd_ssh_main(int argc, const char **argv)
{
	const char *command = getenv("SSH_ORIGINAL_COMMAND");
	const char *path = NULL, *user = NULL;
	const struct option options[] = {
		{.kind = OPTION_STRING,
		 .long_name = "ssh-client",
		 .string = &path,
		 .flags = OPTION_NO_NEGATE,
		 .arg_name = "<socket>",
		 .help = "socket of the server that gets the request of the "
			 "ssh client"},
		{.kind = OPTION_STRING,
		 .long_name = "user",
		 .string = &user,
		 .flags = OPTION_NO_NEGATE,
		 .arg_name = "<name>",
		 .help = "name of the user"},
		{.kind = OPTION_END},
	};
	struct ssh_request request;
	struct error err = ERROR_INIT;
	struct buf message = BUF_INIT;
	int ret = options_parse(argc, argv, options, usage);

	if (ret < 0)
		return options_failed(ret);
	if (ret || !path)
		return options_usage(options, usage);
	if (!command)
		return builtin_die("this account is for Git only; there is no "
				   "shell");
	ret = make_message(&message, command, user) < 0
		      ? error_nomem(&err)
		      : ssh_request_parse(&request, message.data, message.len,
					  &err);
	if (!ret)
		ret = ask(path, &message, &err);
	buf_release(&message);
	return ret < 0 ? builtin_fail(&err) : ret;
}
