/* SPDX-License-Identifier: MIT */
/*
 * Removes objects from a member that the store has. The member's packs are
 * removed. Their objects that the store lacks are packed into one new pack.
 * Loose objects that the store has are removed too.
 */
#ifndef NETWORK_NETWORK_DROP_H
#define NETWORK_NETWORK_DROP_H

#include <stdint.h>

#include "base/error.h"
#include "islands/network.h"
#include "packs/newpack.h"

struct network_drop_report {
	uint32_t pack_nr; /* packs that were removed */
	/* objects that were packed again */
	uint32_t kept_nr;
};

/*
 * Drop what the store has from a member that borrows from the store; other
 * members are not touched. The caller holds NETWORK_LOCK_OBJECTS, so that no
 * object leaves the store meanwhile. The member's lock is taken here. Packs
 * with .keep stay. A cruft pack stays unless the store has all its objects.
 * Returns 0 or a negative error code; on failure, the store has everything that
 * was removed. Cost: proportional to the member's own objects.
 */
int network_drop(struct network *network, uint32_t id,
		 const struct newpack_options *options,
		 struct network_drop_report *report, struct error *err);

#endif
