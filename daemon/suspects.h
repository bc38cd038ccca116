/* SPDX-License-Identifier: MIT */
/*
 * Repositories whose requests may crash workers. The master and all workers
 * share the list.
 *
 * After a crash, it is unknown which of the running requests was the cause. So
 * after two crashes during requests for a repository, its requests are answered
 * in child processes. If a child crashes, too, the cause is found, and requests
 * for the repository are refused. Ten minutes after the last crash, the
 * repository is forgotten. `daemon/guard.c` applies these rules to a request.
 */
#ifndef DAEMON_SUSPECTS_H
#define DAEMON_SUSPECTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct daemon_suspects;

enum daemon_verdict {
	DAEMON_TRUSTED, /* a thread may answer */
	/* two crashes: a child process must answer */
	DAEMON_SUSPECT,
	DAEMON_GUILTY, /* no answer */
};

/* Returns an empty list, or NULL if memory runs out. */
struct daemon_suspects *daemon_suspects_new(struct error *err);

/* Releases the memory in this process. NULL is allowed. */
void daemon_suspects_free(struct daemon_suspects *suspects);

/*
 * Records that a worker crashed at time `now_ns` while it served the repository
 * at `path`. Returns the number of crashes for this repository. Only the master
 * calls this.
 */
unsigned daemon_suspects_crash(struct daemon_suspects *suspects,
			       const char *path, size_t len, uint64_t now_ns);

/*
 * Records that requests for the repository certainly cause crashes. From now
 * on, such requests are refused. Any thread may call this.
 */
void daemon_suspects_convict(struct daemon_suspects *suspects, const char *path,
			     size_t len, uint64_t now_ns);

/*
 * Returns how to answer requests for the repository. Any thread may call this.
 * If no repository is in the list, the cost is one read of memory.
 */
enum daemon_verdict daemon_suspects_judge(
	const struct daemon_suspects *suspects, const char *path, size_t len,
	uint64_t now_ns);

#endif
