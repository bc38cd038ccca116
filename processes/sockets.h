/* SPDX-License-Identifier: MIT */
/*
 * The listening sockets of the server. The name of a listener is its URL in a
 * normal form. When the configuration is read again, or another program takes
 * over, a socket that is already open is found by its name.
 */
#ifndef PROCESSES_SOCKETS_H
#define PROCESSES_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "daemon/options.h"
#include "processes/settings.h"
#include "sys/tcp.h"

/* bytes for the name of a listener with its NUL */
#define DAEMON_NAME_MAX 128

/*
 * The parts of a URL <protocol>://<address>:<port>,
 * <protocol>://systemd[:<name>] or unix:<path>.
 */
struct daemon_address {
	enum daemon_protocol protocol;
	char name[DAEMON_NAME_MAX];
	/* opened by the service manager; there are no address and port */
	bool is_activated;
	/*
	 * path of a Unix socket, at the end of `name`; NULL: there are an
	 * address and a port
	 */
	const char *path;
	char address[SYS_ADDRESS_MAX];
	uint16_t port;
};

/*
 * Parses the URL of a listener, in the form of struct daemon_address. No socket
 * is opened. Returns 0, or ERR_INVALID if the URL has another form or its
 * address is not numeric.
 */
int daemon_address_parse(struct daemon_address *out, const char *url,
			 struct error *err);

/* A listening socket. */
struct daemon_listener {
	/*
	 * the configured URL in a normal form; for a socket that the service
	 * manager has opened, DAEMON_ACTIVATED and the name of the descriptor
	 */
	char name[DAEMON_NAME_MAX];
	int fd; /* owned */
	/*
	 * A socket from the service manager has DAEMON_HTTP until a configured
	 * URL names the socket.
	 */
	enum daemon_protocol protocol;
};

#define DAEMON_ACTIVATED "systemd:"

struct daemon_sockets {
	struct daemon_listener items[DAEMON_LISTENERS_MAX];
	size_t nr;
};

/*
 * Opens the listeners that `settings` names, and stores their sockets in *out.
 * If *before has a socket with the name of a listener, this socket is used
 * again. Returns 0, or a negative error code. After an error, *bad is the value
 * that caused it, *out is empty, and *before is as it was.
 */
int daemon_sockets_open(struct daemon_sockets *out,
			const struct daemon_sockets *before,
			const struct daemon_settings *settings,
			const struct daemon_text **bad, struct error *err);

/*
 * Reports changes of the listeners. Of the sockets in *now, reports those that
 * are not in *before, or all of them if `reports_all` is set. Sockets of
 * *before that are not in *now are reported and closed.
 */
void daemon_sockets_replace(const struct daemon_sockets *before,
			    const struct daemon_sockets *now, bool reports_all,
			    const struct daemon_report *report);

/*
 * Takes `nr` descriptors from `first` on, which the service manager has opened
 * (sd_listen_fds(3)). `names` are their names, separated by colons, or NULL.
 * Returns 0 or ERR_INVALID.
 */
int daemon_sockets_activate(struct daemon_sockets *out, int first, size_t nr,
			    const char *names, struct error *err);

/*
 * daemon_sockets_write() writes a list of sockets as text, for a program that
 * inherits them. daemon_sockets_read() reads such a list. Both return 0 or
 * ERR_NOMEM. daemon_sockets_read() also returns ERR_INVALID if the list is
 * malformed or names a descriptor that is no listening socket.
 */
int daemon_sockets_write(struct buf *out, const struct daemon_sockets *sockets);
int daemon_sockets_read(struct daemon_sockets *out, const char *list,
			struct error *err);

#endif
