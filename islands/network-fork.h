/* SPDX-License-Identifier: MIT */
/*
 * Makes a fork: a new member repository with the references of another member
 * and no objects of its own.
 *
 * registry: "forking"  ->  a complete repository next to the destination
 *   ->  renamed into place  ->  registry: "member"
 *
 * At any time the destination has either a complete repository or nothing.
 */
#ifndef ISLANDS_NETWORK_FORK_H
#define ISLANDS_NETWORK_FORK_H

#include "base/error.h"
#include "islands/network-refs.h"
#include "islands/network.h"

struct network_fork {
	const struct repo *source;
	/*
	 * the references to copy; the shared store has all objects that they
	 * reach
	 */
	const struct network_refs *refs;
	/* destination: the path of the new repository */
	const char *path;
};

/*
 * Makes the fork, and sets *id to the id of the new member. The caller holds
 * NETWORK_LOCK_OBJECTS. If the process of an earlier fork to the same path was
 * killed, this call completes that fork.
 *
 * Returns 0 or a negative error code. ERR_INVALID: the path is not free. It has
 * a file or a directory that is not empty, or another member is registered with
 * this path.
 *
 * After an error, the new repository is either complete at the path, or not
 * there at all. The registry may still have the state "forking". Another call
 * with the same path then completes the fork, and network_fork_settle()
 * completes or undoes it.
 *
 * Cost: the references are written into one file. A few small files are synced
 * if core.fsync of the source has "reference".
 */
int network_fork(uint32_t *id, struct network *network,
		 const struct network_fork *fork, struct error *err);

/*
 * Completes or undoes a fork that was interrupted: the state of the new member
 * is still "forking", and the process that made the fork is gone. If the fork's
 * repository is in place, the fork becomes a member. Otherwise the fork's entry
 * leaves the registry, and the unfinished files are removed. The caller holds
 * the member's lock. Returns 1 if the fork is a member now, 0 if its entry was
 * removed, or a negative error code.
 */
int network_fork_settle(struct network *network, uint32_t id,
			struct error *err);

#endif
