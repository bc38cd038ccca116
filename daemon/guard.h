/* SPDX-License-Identifier: MIT */
/*
 * Applies the rules of daemon/suspects.h to one request. If earlier requests
 * for the repository have crashed workers, a child process must answer the
 * request, or the request is refused.
 */
#ifndef DAEMON_GUARD_H
#define DAEMON_GUARD_H

#include "daemon/conn.h"

/*
 * Whether a request for a repository must be answered by a child process, or
 * refused, because earlier requests for the repository have crashed workers.
 */
struct daemon_guard {
	const struct daemon_conn *conn; /* borrowed */
	/* borrowed: path of the repository, without a NUL at its end */
	const char *path;
	size_t len;
	/*
	 * True: earlier requests for the repository have crashed workers. So a
	 * child process must answer this request: if the answer crashes, only
	 * the child ends. One step is not protected: the thread of the worker
	 * may open the repository before it starts the child.
	 */
	bool is_suspect;
	/* true: the request must be refused */
	bool is_refused;
};

/*
 * Called at the start of a request. *guard keeps a pointer to the path in
 * *request. The other strings are copied to the board of the worker. Returns 0,
 * or ERR_DENIED if the request must be refused. After ERR_DENIED,
 * daemon_guard_leave() must not be called.
 */
int daemon_guard_enter(struct daemon_guard *guard,
		       const struct daemon_conn *conn,
		       const struct status_request *request, struct error *err);

/*
 * Records that a child process answers the request. A crash of the worker is
 * then not blamed on this request.
 */
void daemon_guard_hand_over(struct daemon_guard *guard);

/*
 * Called at the end of a request. `child_status`: the result of
 * sys_spawn_wait(); 0 if no child process answered.
 */
void daemon_guard_leave(struct daemon_guard *guard, int child_status);

#endif
