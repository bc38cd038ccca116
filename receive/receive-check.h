/* SPDX-License-Identifier: MIT */
/*
 * The rules that refuse commands: missing objects, bad names, hidden and
 * symbolic refs, branches that are checked out, receive.deny*.
 *
 * A function that refuses a command sets cmd->error to the same reason as stock
 * Git, and returns 0. If stock Git also prints a message on the client's
 * terminal, the function sends one.
 */
#ifndef RECEIVE_RECEIVE_CHECK_H
#define RECEIVE_RECEIVE_CHECK_H

#include <stddef.h>

#include "base/error.h"
#include "receive/receive-objects.h"
#include "receive/receive.h"
#include "walk/walk.h"
#include "wire/oidset.h"

/*
 * Refuse commands whose new values reach missing objects. All commands are
 * checked together first. If that check fails, each half of them is checked,
 * until single commands are left.
 *
 * If the history of a new value is complete only with the client's shallow
 * boundary, cmd->needs_shallow is set. The commits of the boundary that end
 * this history are added to *new_shallow. Without receive.shallowUpdate, the
 * command is refused.
 *
 * Returns 0 or a negative error code. Cost: see receive_connect_check().
 */
int receive_check_connected(struct receive *r,
			    const struct receive_objects *objects,
			    struct oidset *new_shallow, struct error *err);

/* Refuse commands on hidden refs. Returns 0 or a negative error code. */
int receive_check_hidden(struct receive *r, struct error *err);

/*
 * Find pairs of commands in which one command changes a symbolic ref, and the
 * other command changes the ref that this symbolic ref points to. If both
 * commands have the same old value and the same new value, the command on the
 * symbolic ref gets the flag is_alias and is not executed. Otherwise both
 * commands are refused.
 *
 * A command on a symbolic ref is also refused if the symbolic ref cannot be
 * followed to its end. For instance, it points to "refs/../x", or several
 * symbolic refs point to each other in a circle.
 *
 * Returns 0 or a negative error code.
 */
int receive_check_aliases(struct receive *r, struct error *err);

/*
 * Data that receive_rules_check() keeps in memory from one command to the next.
 */
struct receive_rules {
	struct receive *r; /* borrowed */
	/*
	 * owned: the snapshot with the objects of the repository and of the
	 * push; NULL until it is needed. Then receive_rules_check() moves
	 * r->checked here, or opens a snapshot if r->checked is NULL.
	 */
	struct odb *odb;
	struct walk walk; /* on `odb` */
	bool walk_is_open;
	/* owned: the full name of the branch that HEAD names, or NULL */
	char *head;
};

/*
 * Prepare to check commands. Only HEAD is read. Returns 0 or ERR_NOMEM. The
 * caller releases *rules in both cases.
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
 * the ref. Returns 1 if the object exists and the client is allowed to know of
 * it, 0 if not, or a negative error code.
 */
int receive_rules_old(struct receive_rules *rules,
		      const struct receive_command *cmd, const char *full,
		      struct error *err);

/*
 * ---- receive-connect.c
 *
 * Connectivity: check that the repository has all objects that the new values
 * of refs reach.
 *
 * The closure of every ref must be complete before and after a push. So an
 * object is known to be complete if some ref reaches the object. An object that
 * only exists proves nothing: its parents may have been pruned. The check walks
 * from the new tips through the objects of the push. The walk stops at commits
 * that existed before the push, the frontier:
 *
 *	o--o--o--o             refs
 *	       \
 *	        f--N--N--N     N came with the push, f is the frontier
 *
 * Then tests 1 to 4 find out whether some ref reaches each commit of the
 * frontier. The cheapest test comes first. Each test gets only the commits that
 * passed no earlier test. Step 5 gets the commits that passed none:
 *
 *	1. HEAD or the old value of a command is the commit   a few look-ups
 *	2. some ref has the commit as its value   one pass over the refs,
 *	                                          no object is read
 *	3. HEAD or an old value reaches it        a walk by date
 *	4. some ref reaches it                    a walk by date from all refs
 *	5. no ref reaches it                      walk its history and trees
 *
 * So a push onto a branch costs as much as the push brings, whatever the size
 * of the repository. A test that cannot decide counts as not passed.
 *
 * The tests read the refs as they are after the pack has arrived, not as they
 * were advertised. Each commit of the frontier must also exist as an object: a
 * ref that was deleted a moment ago proves nothing, and the commit-graph may
 * have commits that were pruned.
 */

struct receive_connect {
	struct receive *r;                     /* borrowed */
	const struct receive_objects *objects; /* borrowed */
	/* owned: the objects of the repository and of the push */
	struct odb *odb;
};

/*
 * Opens the object database that the check reads. `r` and `objects` must
 * outlive *c. Returns 0 or a negative error code. The caller must release *c in
 * both cases.
 */
int receive_connect_init(struct receive_connect *c, struct receive *r,
			 const struct receive_objects *objects,
			 struct error *err);
void receive_connect_release(struct receive_connect *c);

/*
 * Check the new values of `nr` commands together. Deletions and refused
 * commands have no new value. Returns 1 if all objects exist; 0 with the reason
 * in *why if an object is missing or corrupt; or a negative error code.
 *
 * If `new_shallow` is not NULL, a commit of the push that is on the client's
 * shallow boundary may lack parents, and is added to *new_shallow. Exception: a
 * commit that the repository had before the push, with all its parents, is not
 * treated as shallow. Refs may need its history.
 *
 * Cost: O(commits and objects of the push). In addition, for each existing
 * commit at which the push meets the old history, one test whether refs reach
 * it.
 */
int receive_connect_check(struct receive_connect *c,
			  const struct receive_command *commands, size_t nr,
			  struct oidset *new_shallow, struct error *why,
			  struct error *err);

#endif
