/* SPDX-License-Identifier: MIT */
/*
 * What the repository's rules say about a command: names, hidden refs,
 * symbolic ones, branches that are checked out, receive.deny*.
 *
 * Refused commands get Git's reason in cmd->error, and the pusher a line on
 * the terminal where Git prints one. All functions return 0 or a negative
 * error; whether a command is refused is in cmd->error.
 */
#ifndef RECEIVE_RECEIVE_CHECK_H
#define RECEIVE_RECEIVE_CHECK_H

#include "base/error.h"
#include "receive/receive-objects.h"
#include "receive/receive.h"
#include "walk/walk.h"

/*
 * Refuse what leans on objects that are not there: all commands together, and
 * one by one only when that fails. Sets cmd->needs_cut and fills in *cut where
 * the history of a shallow pusher is all there is, if
 * receive.shallowUpdate allows it.
 */
int receive_check_connected(struct receive *r,
			    const struct receive_objects *objects,
			    struct oidset *cut, struct error *err);

/* Refuse commands on hidden refs. */
int receive_check_hidden(struct receive *r, struct error *err);

/*
 * Refuse commands on a symbolic ref and its target that do not agree; one
 * that does is left to the target's command (cmd->is_alias).
 */
int receive_check_aliases(struct receive *r, struct error *err);

/* What checking single commands has to know; lives while they are checked. */
struct receive_rules {
	struct receive *r; /* borrowed */
	struct odb *odb;   /* owned, when first needed */
	struct walk walk;  /* of `odb` */
	bool walk_is_open;
	char *head; /* owned: the current branch, or NULL */
};

int receive_rules_init(struct receive_rules *rules, struct receive *r,
		       struct error *err);
void receive_rules_release(struct receive_rules *rules);

/* Apply the rules for single commands to one. */
int receive_rules_check(struct receive_rules *rules,
			struct receive_command *cmd, struct error *err);

/*
 * Whether an object is there, and what it is: 1 with *type, 0, or negative.
 */
int receive_rules_type(struct receive_rules *rules, const struct oid *oid,
		       enum object_type *type, struct error *err);

/*
 * Whether the object is there that a command says its ref `full` had, and the
 * pusher may know so: 1, 0 or negative.
 */
int receive_rules_old(struct receive_rules *rules,
		      const struct receive_command *cmd, const char *full,
		      struct error *err);

#endif
