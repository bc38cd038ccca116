/* SPDX-License-Identifier: MIT */
/* Parses the URLs of listeners. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "daemon/sockets.h"

static void set_name(char name[DAEMON_NAME_MAX], const char *address,
		     unsigned port)
{
	bool is_v6 = strchr(address, ':') != NULL;

	snprintf(name, DAEMON_NAME_MAX, "http://%s%s%s:%u", is_v6 ? "[" : "",
		 address, is_v6 ? "]" : "", port);
}

int daemon_address_parse(struct daemon_address *out, const char *url,
			 struct error *err)
{
	bool is_v6 = !strncmp(url, "http://[", 8);
	char rest[3] = "";
	unsigned port;
	int nr;

	if (strncmp(url, "http://", 7))
		return error_set(err, ERR_INVALID,
				 "'%.200s': only http:// is supported", url);
	nr = is_v6 ? sscanf(url, "http://[%45[^]]]:%5u%2s", out->address, &port,
			    rest)
		   : sscanf(url, "http://%45[^:/]:%5u%2s", out->address, &port,
			    rest);
	if (nr < 2 || port > 65535 || (nr == 3 && strcmp(rest, "/")))
		return error_set(err, ERR_INVALID,
				 "'%.200s' is not of the form "
				 "http://<address>:<port>",
				 url);
	if (!sys_address_is_valid(out->address))
		return error_set(err, ERR_INVALID,
				 "'%s' is not a numeric address", out->address);
	out->port = (uint16_t)port;
	set_name(out->name, out->address, port);
	return 0;
}

int daemon_listen(char name[DAEMON_NAME_MAX], const char *url,
		  struct error *err)
{
	struct daemon_address a;
	int fd = daemon_address_parse(&a, url, err);

	if (fd >= 0)
		fd = sys_socket_listen(a.address, a.port, err);
	if (fd >= 0)
		set_name(name, a.address, sys_socket_port(fd));
	return fd;
}
