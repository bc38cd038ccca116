/* SPDX-License-Identifier: MIT */
/*
 * A server of repositories, over HTTP/1.1, git:// and ssh: a master process,
 * and worker processes that share its listening sockets
 * (Documentation/design/daemon.md).
 */
#ifndef PROCESSES_MASTER_H
#define PROCESSES_MASTER_H

#include "daemon/options.h"

/*
 * The helper process of an upgrade of the program. The old master starts the
 * helper, and the helper starts the new master as its child. When the new
 * master serves, the old master ends the helper, so that the new master has
 * lost its parent. A service manager needs this: it watches only its own
 * children and processes whose parents have ended.
 */
struct daemon_successor {
	/*
	 * Process id of the helper. The helper ends in two cases. If the new
	 * master ends, the helper ends with the exit code of the new master. If
	 * the helper gets SIGTERM, it ends, and the new master goes on.
	 */
	long pid;
	/*
	 * Owned by the old master: the end of a pipe from which the old master
	 * reads. When the new master begins to serve, the new master writes its
	 * own process id, a `long`, into the other end.
	 */
	int ready;
};

/* Functions of the program that contains the server. The master calls them. */
struct daemon_program {
	/*
	 * Read the configuration again, and open and close listeners. *out is
	 * borrowed until the next successful call, which makes the options of
	 * earlier calls invalid. Returns 0, or a negative error code; then
	 * nothing has changed.
	 */
	int (*reload)(void *ctx, const struct daemon_options **out,
		      struct error *err);
	/*
	 * Starts the program as a new process that inherits the listening
	 * sockets. Returns 0 or a negative error code.
	 */
	int (*upgrade)(void *ctx, struct daemon_successor *out,
		       struct error *err);
	/* All workers serve. */
	void (*ready)(void *ctx);
	void *ctx;
	/* socket of the service manager (sys/notify.h), or NULL */
	const char *notify_socket;
	/*
	 * The service manager expects a message at this interval; 0: it expects
	 * none.
	 */
	uint64_t watchdog_ms;
	/*
	 * If new workers are not ready this number of milliseconds after a
	 * reload, the master reports this; 0: DAEMON_RELOAD_MS.
	 */
	uint64_t reload_ms;
};

#define DAEMON_RELOAD_MS 30000

/*
 * Serve until SIGTERM or SIGINT. SIGHUP reads the configuration again, SIGUSR2
 * starts a new master in place of this one. The process must have no other
 * threads. Returns 0 or a negative error code, in the master and in each
 * worker; the caller then ends the process.
 */
int master_run(const struct daemon_options *options,
	       const struct daemon_program *program, struct error *err);

#endif
