/* SPDX-License-Identifier: MIT */
/*
 * A new member with the references of another and no objects of its own.
 *
 *	registry: "forking"  ->  a directory beside the destination, complete
 *	  ->  renamed into place  ->  registry: "member"
 *
 * so that the destination is a whole repository or not there at all.
 */
#ifndef ISLANDS_NETWORK_FORK_H
#define ISLANDS_NETWORK_FORK_H

#include "base/error.h"
#include "islands/network-refs.h"
#include "islands/network.h"

struct network_fork {
	const struct repo *source;
	const struct network_refs *refs; /* to copy; the store has all that
					    they reach */
	const char *path;                /* of the new repository */
};

/*
 * Make the fork and set *id. The caller has NETWORK_LOCK_OBJECTS. One that was
 * begun at that path and killed is completed. 0; ERR_INVALID when something is
 * there; or another error, after which "forking" may stay in the registry, and
 * nothing is at the path.
 * Cost: what the references are, in one file; a few small files that are
 * synced where core.fsync of the source has "reference".
 */
int network_fork(uint32_t *id, struct network *network,
		 const struct network_fork *fork, struct error *err);

/*
 * Settle a member that is "forking" and that nobody works on: it becomes a
 * member where the repository is in place, else it is forgotten, with what was
 * made of it. Its lock is held. 1: a member; 0: forgotten; or negative.
 */
int network_fork_settle(struct network *network, uint32_t id,
			struct error *err);

#endif
