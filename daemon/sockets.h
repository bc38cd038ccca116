/* SPDX-License-Identifier: MIT */
/*
 * The listening sockets of the server. A listener has a name, the URL in one
 * form. When the configuration is read again, or another program takes over, a
 * socket that is already open is found by its name.
 */
#ifndef DAEMON_SOCKETS_H
#define DAEMON_SOCKETS_H

#include <stdint.h>

#include "base/error.h"
#include "sys/tcp.h"

/* bytes for the name of a listener with its NUL */
#define DAEMON_NAME_MAX 128

/* The parts of a URL http://<address>:<port>. */
struct daemon_address {
	char name[DAEMON_NAME_MAX];
	char address[SYS_ADDRESS_MAX];
	uint16_t port;
};

/*
 * Parses the URL of a listener. No socket is opened. Returns 0, or ERR_INVALID
 * if the URL is not of this form or its address is not numeric.
 */
int daemon_address_parse(struct daemon_address *out, const char *url,
			 struct error *err);

/*
 * Listens on a URL, and stores the name with the port that the system chose.
 * Returns the descriptor, ERR_INVALID, or ERR_IO.
 */
int daemon_listen(char name[DAEMON_NAME_MAX], const char *url,
		  struct error *err);

#endif
