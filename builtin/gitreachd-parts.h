/* SPDX-License-Identifier: MIT */
/*
 * Internal to the server's program: gitreachd.c reads the configuration.
 * gitreachd-life.c deals with other processes: the service manager, and an
 * older or newer server process.
 */
#ifndef BUILTIN_GITREACHD_PARTS_H
#define BUILTIN_GITREACHD_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "processes/master.h"
#include "processes/sockets.h"

/*
 * What this process inherits when it starts: listening sockets, a channel to
 * the service manager (systemd), and a channel to the predecessor (the older
 * server process that this process replaces). Any of these may be missing.
 */
struct gitreachd_legacy {
	struct daemon_sockets sockets;
	/*
	 * owned: path of the socket of the service manager; NULL: there is no
	 * service manager
	 */
	char *notify_socket;
	/*
	 * The service manager expects a message at least once in this number of
	 * milliseconds. 0: it expects none.
	 */
	uint64_t watchdog_ms;
	/*
	 * owned: the end of a pipe to the predecessor, for
	 * gitreachd_legacy_tell(); -1: there is no predecessor
	 */
	int ready;
};

/*
 * Read from environment variables what this process inherits: the listening
 * sockets, the socket of the service manager, and the pipe to the predecessor.
 * The variables are removed, so that hooks do not get them. Variables about a
 * single request or repository are removed, too. Returns 0, ERR_NOMEM, or
 * ERR_INVALID if a descriptor that is given as a listening socket is not one.
 * The caller releases *out in any case.
 */
int gitreachd_inherit(struct gitreachd_legacy *out, struct error *err);
void gitreachd_legacy_release(struct gitreachd_legacy *legacy);

/*
 * Fork if an older server process (the predecessor) has started this process to
 * replace it. The child becomes the new server. The parent does nothing but
 * wait for the end of the child:
 *
 * - If the child serves, the predecessor ends the parent. A service manager
 *   needs this (struct daemon_successor).
 * - If the child ends before that, it has failed to start. The parent must then
 *   exit with the child's exit code, which tells the predecessor of the
 *   failure.
 *
 * Returns 0 in the process that shall serve: the child, or this process if
 * there is no predecessor. Returns 1 in the parent, after the child has ended
 * with the exit code *code. Returns ERR_IO if forking or waiting fails.
 */
int gitreachd_part(struct gitreachd_legacy *legacy, int *code,
		   struct error *err);

/*
 * Tell the predecessor that this process serves now. The predecessor is the
 * older server process that this process replaces. `legacy` has the pipe to it.
 * Does nothing if there is no predecessor.
 */
void gitreachd_legacy_tell(struct gitreachd_legacy *legacy);

/*
 * Start the program again as the successor of this server, with the command
 * line `words` and the sockets. Returns 0 or a negative error code.
 */
int gitreachd_start_heir(struct daemon_successor *out, const char *const *words,
			 const struct gitreachd_legacy *legacy,
			 const struct daemon_sockets *sockets,
			 struct error *err);

/*
 * Returns whether standard error is connected to the journal of systemd. If so,
 * each line of the log starts with a priority, and the name of the program is
 * left out.
 */
bool gitreachd_is_journal(void);

/*
 * Write a line to the log. `ctx` points to a bool, the result of
 * gitreachd_is_journal().
 */
void gitreachd_log(void *ctx, const char *line);

#endif
