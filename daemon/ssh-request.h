/* SPDX-License-Identifier: MIT */
/*
 * The message that a forced command of sshd sends to the server, together with
 * the descriptors of the command's standard input, output and error. Four
 * strings, each with a NUL at its end:
 *
 * 	git-upload-pack '/a.git'   SSH_ORIGINAL_COMMAND
 * 	version=2                  GIT_PROTOCOL, or empty
 * 	alice                      the user, or empty
 * 	192.0.2.1                  the client's address, or empty
 *
 * The command is "git-<service> <path>" or "git <service> <path>". The path is
 * in single quotes, as Git and other clients quote it; \' and \! may stand
 * between two quoted parts. A path without a slash in front gets one. Anything
 * else is refused: no shell ever sees the command.
 */
#ifndef DAEMON_SSH_REQUEST_H
#define DAEMON_SSH_REQUEST_H

#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "daemon/service.h"

/* maximum bytes of a message */
#define SSH_REQUEST_MAX 8192

struct ssh_request {
	enum service service;
	char path[4096]; /* begins with a slash */
	char protocol[512];
	char user[256];
	char address[64];
};

/*
 * Parses a message. Returns 0 with all fields of *out set, or ERR_PEER with a
 * message for the client.
 */
int ssh_request_parse(struct ssh_request *out, const char *bytes, size_t len,
		      struct error *err);

/*
 * Appends a message to *out. NULL stands for an empty string. Returns 0 or
 * ERR_NOMEM.
 */
int ssh_request_format(struct buf *out, const char *command,
		       const char *protocol, const char *user,
		       const char *address);

#endif
