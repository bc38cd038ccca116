/* SPDX-License-Identifier: MIT */
/*
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
 * Each commit of the frontier is then tested, the cheapest test first:
 *
 *	1. HEAD or the old value of a command is the commit   a few look-ups
 *	2. some ref has the commit as its value   one pass over the refs,
 *	                                          no object is read
 *	3. HEAD or an old value reaches it        a walk by date
 *	4. some ref reaches it                    a walk by date from all refs
 *	5. no ref reaches it                      walk its history and trees
 *
 * A commit that passes one test needs no further test. So a push onto a branch
 * costs as much as the push brings, whatever the size of the repository. A test
 * that cannot decide counts as not passed.
 */
#ifndef RECEIVE_RECEIVE_CONNECT_H
#define RECEIVE_RECEIVE_CONNECT_H

#include <stddef.h>

#include "base/error.h"
#include "receive/receive-objects.h"
#include "receive/receive.h"
#include "wire/oidset.h"

struct receive_connect {
	struct receive *r;                     /* borrowed */
	const struct receive_objects *objects; /* borrowed */
	/* owned: repository and quarantine */
	struct odb *odb;
};

/*
 * Open the objects. `r` and `objects` must outlive *c. Returns 0 or a negative
 * error code. Release *c in both cases.
 */
int receive_connect_init(struct receive_connect *c, struct receive *r,
			 const struct receive_objects *objects,
			 struct error *err);
void receive_connect_release(struct receive_connect *c);

/*
 * Check the new values of `nr` refs together. Returns 1 if all objects exist, 0
 * if an object is missing or corrupt, with the reason in *why, or a negative
 * error code.
 *
 * If `new_shallow` is not NULL, the history of the push may end at the shallow
 * boundary of the client. Only commits of the push count as boundary. A commit
 * that the repository had before the push, with its parents, does not count:
 * refs may need its history. The boundary commits that the walk met are added
 * to *new_shallow.
 */
int receive_connect_check(struct receive_connect *c, const struct oid *tips,
			  size_t nr, struct oidset *new_shallow,
			  struct error *why, struct error *err);

#endif
