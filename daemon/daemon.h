/* SPDX-License-Identifier: MIT */
/*
 * An HTTP/1.1 server of repositories: a master process, and worker processes
 * that share its listening sockets (Documentation/design/daemon.md).
 */
#ifndef DAEMON_DAEMON_H
#define DAEMON_DAEMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* The limits and services of a server. Pointers are borrowed. */
struct daemon_options {
	/* absolute path; requests name repositories below it */
	const char *base_path;
	bool export_all;
	/*
	 * Fetches run in child processes, too: a hook that makes packs expects
	 * the repository as working directory.
	 */
	bool is_hooked;
	unsigned worker_nr, thread_nr; /* threads of each worker */
	unsigned connection_max;       /* of each worker */
	unsigned head_timeout;         /* seconds to send a whole head */
	unsigned timeout;              /* seconds without 64 KiB of progress */
	unsigned idle_timeout;         /* seconds between two requests */
	unsigned drain_timeout;        /* seconds to finish after SIGTERM */
	const char *agent;             /* "<name>/<version>" */
	const char *session_id;
	const char *namespace; /* GIT_NAMESPACE, or NULL */
	/* Write one line to the log. Called by several threads. */
	void (*log)(void *ctx, const char *line);
	void *log_ctx;
	/* listening sockets, owned by the caller */
	const int *listeners;
	size_t listener_nr;
};

/*
 * Serve until SIGTERM or SIGINT. The process must have no other threads.
 * Returns 0 or a negative error code, in the master and in each worker; the
 * caller then ends the process.
 */
int daemon_run(const struct daemon_options *options, struct error *err);

#endif
