/* SPDX-License-Identifier: MIT */
/*
 * The rules that refuse commands: missing objects, bad names, hidden and
 * symbolic refs, branches that are checked out, receive.deny*.
 *
 * A function that refuses a command sets cmd->error to the reason that stock
 * Git gives, and returns 0. The client's terminal gets a message where stock
 * Git prints one.
 */
#ifndef RECEIVE_RECEIVE_CHECK_H
#define RECEIVE_RECEIVE_CHECK_H

#include "base/error.h"
#include "receive/receive-objects.h"
#include "receive/receive.h"
#include "walk/walk.h"

/*
 * Refuse commands whose new values need missing objects. All commands are
 * checked together first, and one by one only if that check fails.
 *
 * If a command is complete only with the shallow boundary of the client,
 * cmd->needs_shallow is set and the shallow commits are added to *new_shallow.
 * Such a command is refused unless receive.shallowUpdate is true.
 *
 * Returns 0 or a negative error code. Costs: see receive-connect.h.
 */
int receive_check_connected(struct receive *r,
			    const struct receive_objects *objects,
			    struct oidset *new_shallow, struct error *err);

/* Refuse commands on hidden refs. Returns 0 or a negative error code. */
int receive_check_hidden(struct receive *r, struct error *err);

/*
 * Find commands on symbolic refs whose target another command changes. If both
 * commands have the same old and new values, the command on the symbolic ref
 * gets is_alias and is not executed. Otherwise both commands are refused.
 * Returns 0 or a negative error code.
 */
int receive_check_aliases(struct receive *r, struct error *err);

/* State of the checks of single commands. */
struct receive_rules {
	struct receive *r; /* borrowed */
	/* owned: opened at the first use, or NULL */
	struct odb *odb;
	struct walk walk; /* on `odb` */
	bool walk_is_open;
	/* owned: full name of HEAD's branch, or NULL */
	char *head;
};

/*
 * Prepare to check commands. Nothing but HEAD is read. Returns 0 or ERR_NOMEM.
 * Release *rules in both cases.
 */
int receive_rules_init(struct receive_rules *rules, struct receive *r,
		       struct error *err);
void receive_rules_release(struct receive_rules *rules);

/*
 * Check one command: its name, checked-out branches, receive.deny*, and whether
 * the new object exists. Returns 0 or a negative error code.
 */
int receive_rules_check(struct receive_rules *rules,
			struct receive_command *cmd, struct error *err);

/*
 * Find the type of an object. Returns 1 with *type set, 0 if the object is
 * missing or corrupt, or a negative error code.
 */
int receive_rules_type(struct receive_rules *rules, const struct oid *oid,
		       enum object_type *type, struct error *err);

/*
 * Check whether the old object of a command exists. `full` is the full name of
 * the ref. Returns 1 if the object exists and the client may know that, 0 if
 * not, or a negative error code.
 */
int receive_rules_old(struct receive_rules *rules,
		      const struct receive_command *cmd, const char *full,
		      struct error *err);

#endif
