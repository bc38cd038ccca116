/* SPDX-License-Identifier: MIT */
/* Applies the rules of daemon/suspects.h to one request. */
#include <signal.h>

#include "daemon/conn.h"
#include "daemon/guard.h"
#include "daemon/suspects.h"
#include "status/board.h"
#include "sys/clock.h"

int daemon_guard_enter(struct daemon_guard *guard,
		       const struct daemon_conn *conn,
		       const struct status_request *request, struct error *err)
{
	enum daemon_verdict verdict = daemon_suspects_judge(
		conn->shared->suspects, request->path, request->path_len,
		sys_clock_ns());

	*guard = (struct daemon_guard){
		.conn = conn,
		.path = request->path,
		.len = request->path_len,
		.is_suspect = verdict == DAEMON_SUSPECT,
		.is_refused = verdict == DAEMON_GUILTY,
	};
	if (guard->is_refused)
		return error_set(err, ERR_DENIED,
				 "requests for '%.*s' are refused because "
				 "earlier ones crashed a worker process",
				 (int)guard->len, guard->path);
	status_slot_enter(conn->slot, request, guard->is_suspect);
	return 0;
}

void daemon_guard_hand_over(struct daemon_guard *guard)
{
	status_slot_hand_over(guard->conn->slot);
}

/*
 * Returns whether a child was ended by a signal that means a crash, such as
 * SIGSEGV.
 */
static bool has_crashed(int status)
{
	switch (status - 128) {
	case SIGABRT:
	case SIGBUS:
	case SIGFPE:
	case SIGILL:
	case SIGSEGV:
	case SIGSYS:
	case SIGTRAP:
		return true;
	default:
		return false;
	}
}

void daemon_guard_leave(struct daemon_guard *guard, int child_status)
{
	status_slot_leave(guard->conn->slot);
	if (guard->is_suspect && has_crashed(child_status))
		daemon_suspects_convict(guard->conn->shared->suspects,
					guard->path, guard->len,
					sys_clock_ns());
}
