/* SPDX-License-Identifier: MIT */
/*
 * The proc-receive hook (githooks(5)): executes commands on the refs that
 * receive.procReceiveRefs names, and reports the results. The hook runs once
 *per push, in the git directory. Server and hook exchange pkt-lines:
 *
 *	server  version=1 NUL <features>, flush
 *	hook    version=1 NUL <features>, flush
 *	server  <old> <new> <ref> ..., flush; then <push option> ..., flush, if
 *	        both sides have the feature push-options
 *	hook    ok <ref>, ng <ref> <reason>, option <name> <value> ..., flush
 *
 *	30 30 31 33 6f 6b 20 72 65 66 73 2f 66 6f 72 2f 6d 61 0a
 *	 "0013"     "ok refs/for/ma\n"
 *
 * The hook's standard error goes to the client while the hook runs. Messages
 * about the report follow when the hook has ended.
 */
#ifndef RECEIVE_RECEIVE_PROC_H
#define RECEIVE_RECEIVE_PROC_H

#include "base/buf.h"
#include "base/error.h"
#include "receive/receive.h"

/* Set cmd->by_hook of all commands that receive.procReceiveRefs selects. */
void receive_proc_choose(struct receive *r);

/*
 * Run the hook if at least one command is for the hook. The report of the hook
 * refuses a command, adds rewrites to a command, or clears by_hook so that the
 * server executes the command. A command without a result is refused. If the
 * hook fails in an atomic push, all commands without a result are refused.
 * Returns 0 or a negative error code; a hook that fails is no error.
 */
int receive_proc_run(struct receive *r, struct error *err);

/*
 * Take one line of the hook's report. `line` ends at its first NUL, and is
 * changed in place. *at is the command that option lines belong to; start with
 * NULL and keep *at between calls. Returns 0, 1 if the line refuses a command
 * or is malformed, or ERR_NOMEM. The message about a malformed line is appended
 * to *messages, as a line for the client's terminal.
 */
int receive_proc_take(struct buf *messages, struct receive *r,
		      struct receive_command **at, char *line);

#endif
