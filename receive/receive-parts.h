/* SPDX-License-Identifier: MIT */
/*
 * The declarations of three files with the last steps of a push: the
 * proc-receive hook, changing refs, and the report. receive-pack.c calls them.
 */
#ifndef RECEIVE_RECEIVE_PARTS_H
#define RECEIVE_RECEIVE_PARTS_H

#include "base/buf.h"
#include "base/error.h"
#include "receive/receive.h"

/*
 * ---- receive-proc.c
 *
 * The proc-receive hook (githooks(5)): executes commands on the refs that
 * receive.procReceiveRefs names, and reports the results. The hook runs once
 * per push, in the git directory. Server and hook exchange pkt-lines:
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

/*
 * Choose the commands that the proc-receive hook executes: set cmd->by_hook of
 * all commands on refs that receive.procReceiveRefs selects.
 */
void receive_proc_choose(struct receive *r);

/*
 * Run the proc-receive hook if at least one command has by_hook. The report of
 * the hook can refuse a command, add rewrites to a command, or clear by_hook so
 * that the server executes the command. A command with by_hook for which the
 * hook reports no result is refused. If the hook fails in an atomic push, all
 * other commands are refused too. Returns 0 or a negative error code; a hook
 * that fails is no error.
 */
int receive_proc_run(struct receive *r, struct error *err);

/* The state of reading the proc-receive hook's report. */
struct receive_proc_report {
	/*
	 * owned by the caller: messages for the client's terminal about
	 * malformed lines of the report; the caller may empty the buffer
	 */
	struct buf messages;
	/*
	 * borrowed: the command to which "option" lines belong; NULL: none
	 */
	struct receive_command *at;
	/*
	 * true: a message was appended already. As in stock Git, only the first
	 * message starts with "error: ".
	 */
	bool has_message;
	/*
	 * true: a stray "option" line was reported already. As in stock Git,
	 * such lines are reported once.
	 */
	bool has_stray_option;
};

#define RECEIVE_PROC_REPORT_INIT                                               \
	{                                                                      \
		.messages = BUF_INIT                                           \
	}

/*
 * Parse one line of the proc-receive hook's report. `line` ends at its first
 * NUL, and is changed in place. Returns 1 if the line refuses a command or is
 * malformed, 0 for any other line, or ERR_NOMEM. For a malformed line, a
 * message is appended to report->messages.
 */
int receive_proc_take(struct receive_proc_report *report, struct receive *r,
		      char *line);

/*
 * ---- receive-update.c
 *
 * Change refs: check each command with the rules and the update hook, and put
 * the remaining commands into reference transactions.
 *
 * An atomic push is one transaction: all commands or none are executed. A push
 * that is not atomic is two transactions, deletions first, so that the push may
 * delete refs/a and create refs/a/b. If a command of a push that is not atomic
 * fails, the other commands are executed all the same.
 */

/*
 * Execute all commands that are not refused, except those that the proc-receive
 * hook executes. First, the commits in `new_shallow` are added to the shallow
 * boundary of the repository. Returns 0 with the result of each command in
 * cmd->error, or a negative error code.
 */
int receive_update_refs(struct receive *r, const struct oidset *new_shallow,
			struct error *err);

/*
 * ---- receive-report.c
 *
 * The report at the end of a push (gitprotocol-pack(5), "Report Status"):
 *
 *	unpack ok                 or "unpack <reason>"
 *	ok <ref>                  "option" lines follow, if the client has
 *	                          report-status-v2 and there are rewrites
 *	ng <ref> <reason>
 *	flush
 *
 * With side bands, these packets are the data of band 1.
 */

/*
 * Send the report of the push if the client asked for a report. `failure` says
 * why the objects of the push were not stored. NULL: the objects were stored.
 * Returns 0 or a negative error code.
 */
int receive_report(struct receive *r, const char *failure, struct error *err);

#endif
