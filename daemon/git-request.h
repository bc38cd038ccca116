/* SPDX-License-Identifier: MIT */
/*
 * The request of a client of git://, the first pkt-line of a connection
 * (gitprotocol-pack(5), "Git Transport"):
 *
 *	0039git-upload-pack /a.git\0host=h.example\0\0version=2\0
 *	|   |   |           |       |                |
 *	|   |   service     path    host, optional   parameters, optional
 *	|   "git-"
 *	length in hexadecimal, counts itself
 *
 * One line feed behind the path is dropped; old clients send it. The parser is
 * strict. It refuses a path with control characters, a host or a parameter that
 * is not printable ASCII, and text that is longer than the fields below.
 */
#ifndef DAEMON_GIT_REQUEST_H
#define DAEMON_GIT_REQUEST_H

#include <stddef.h>

#include "base/error.h"
#include "daemon/service.h"

/* maximum bytes of the pkt-line with its length field */
#define GIT_REQUEST_MAX 8192

struct git_request {
	enum service service;
	char path[4096]; /* not empty */
	/* "": none; may have a port */
	char host[256];
	/* the extra parameters of the request, joined by ':'; "": none */
	char protocol[512];
};

/*
 * Returns how many bytes are missing until the first pkt-line is complete. 0:
 * the line is complete, or git_request_parse() refuses it. A caller that reads
 * at most this number of bytes leaves the bytes after the line in the socket.
 */
size_t git_request_missing(const char *bytes, size_t len);

/*
 * Parses a pkt-line of exactly `len` bytes. Returns 0 with all fields of *out
 * set, or ERR_PEER if the line is not a valid request.
 */
int git_request_parse(struct git_request *out, const char *bytes, size_t len,
		      struct error *err);

#endif
