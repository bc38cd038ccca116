/* SPDX-License-Identifier: MIT */
/*
 * Change refs: check each command with the rules and the update hook, and put
 * the remaining commands into reference transactions.
 *
 * An atomic push is one transaction: all commands or none are executed. Other
 * pushes are two transactions, deletions first: a push may delete refs/a and
 * create refs/a/b. In these, a command that fails does not stop the others.
 */
#ifndef RECEIVE_RECEIVE_UPDATE_H
#define RECEIVE_RECEIVE_UPDATE_H

#include "base/error.h"
#include "receive/receive.h"

/*
 * Execute all commands that are not refused and not executed by the
 * proc-receive hook. The commits in `new_shallow` are first added to the
 * shallow boundary of the repository. Returns 0 with the result of each command
 * in cmd->error, or a negative error code.
 */
int receive_update_refs(struct receive *r, const struct oidset *new_shallow,
			struct error *err);

#endif
