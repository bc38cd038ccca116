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
 * Makes the fork and sets *id. The caller holds NETWORK_LOCK_OBJECTS. If a fork
 * to the same path was killed, the fork is completed.
 *
 * Returns 0 or a negative error code. ERR_INVALID: something else is at the
 * path. After an error the registry may still say "forking", and nothing is at
 * the path.
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
