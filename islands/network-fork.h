/* SPDX-License-Identifier: MIT */
/*
 * Forking: a new member with the references of another member and no objects of
 * its own.
 *
 *  registry: "forking"  ->  a complete repository next to the destination
 *    ->  renamed into place  ->  registry: "member"
 *
 * At the destination is a whole repository or nothing.
 */
#ifndef ISLANDS_NETWORK_FORK_H
#define ISLANDS_NETWORK_FORK_H

#include "base/error.h"
#include "islands/network-refs.h"
#include "islands/network.h"

struct network_fork {
	const struct repo *source;
	/* To copy; the store has all that these reach. */
	const struct network_refs *refs;
	const char *path; /* of the new repository */
};

/*
 * Make the fork and set *id. The caller holds NETWORK_LOCK_OBJECTS. A fork to
 * the same path that was killed is completed.
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
 * Settle a member that is "forking" and that nobody works on. It becomes a
 * member if its repository is in place. Otherwise it leaves the registry and
 * its unfinished files are removed. The caller holds the member's lock. Returns
 * 1 if it is a member, 0 if it was removed, or a negative error code.
 */
int network_fork_settle(struct network *network, uint32_t id,
			struct error *err);

#endif
