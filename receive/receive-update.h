/* SPDX-License-Identifier: MIT */
/*
 * Changing refs: each command judged by the rules and the update hook, and
 * what is left put into reference transactions. An atomic push is one, all or
 * nothing; another one is two, deletions first, so that refs/a may make room
 * for refs/a/b, and a command that fails fails alone.
 */
#ifndef RECEIVE_RECEIVE_UPDATE_H
#define RECEIVE_RECEIVE_UPDATE_H

#include "base/error.h"
#include "receive/receive.h"

/*
 * Execute all commands that are not refused, but those of the proc-receive
 * hook. `cut`: commits that become shallow before refs name them. 0, or
 * negative when the machine fails; cmd->error says what became of each.
 */
int receive_update_refs(struct receive *r, const struct oidset *cut,
			struct error *err);

#endif
