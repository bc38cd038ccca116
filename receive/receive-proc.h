/* SPDX-License-Identifier: MIT */
/*
 * The proc-receive hook: commands on refs that receive.procReceiveRefs names
 * are executed by a program of the operator's, which says what became of them
 * (githooks(5)). It runs once, in the git directory, and talks pkt-lines:
 *
 *	us    version=1 NUL <features>, flush
 *	hook  version=1 NUL <features>, flush
 *	us    <old> <new> <ref> ..., flush; <push option> ..., flush, when both
 *	      know "push-options"
 *	hook  ok <ref>, ng <ref> <reason>, option <name> <value> ..., flush
 *
 *	30 30 31 33 6f 6b 20 72 65 66 73 2f 66 6f 72 2f 6d 61 0a
 *	 "0013"     "ok refs/for/ma\n"
 *
 * What it prints on its standard error goes to the pusher while it runs.
 */
#ifndef RECEIVE_RECEIVE_PROC_H
#define RECEIVE_RECEIVE_PROC_H

#include "base/error.h"
#include "receive/receive.h"

/* Set cmd->by_hook of the commands that are the hook's. */
void receive_proc_choose(struct receive *r);

/*
 * Run the hook, when there is something for it: commands get an error, or
 * rewrites, or are left to us after all (by_hook is false again). Those that
 * it says nothing about are refused, and in an atomic push all others with
 * them. 0, or negative when the machine fails.
 */
int receive_proc_run(struct receive *r, struct error *err);

/*
 * Take one line of the hook's report, cut at its NUL and written to. *at: the
 * command that options are about, between calls. 0, 1 when it is none (the
 * pusher was told so), or ERR_NOMEM.
 */
int receive_proc_take(struct receive *r, struct receive_command **at,
		      char *line);

#endif
