/* SPDX-License-Identifier: MIT */
/*
 * Removing from a member what the store has: its packs, but for what the store
 * lacks, which becomes one pack; and its loose objects.
 */
#ifndef NETWORK_NETWORK_DROP_H
#define NETWORK_NETWORK_DROP_H

#include <stdint.h>

#include "base/error.h"
#include "islands/network.h"
#include "packs/newpack.h"

struct network_drop_report {
	uint32_t pack_nr; /* packs that went */
	uint32_t kept_nr; /* objects of them that were packed anew */
};

/*
 * For a member that borrows from the store. The caller has
 * NETWORK_LOCK_OBJECTS, so that what the store has now stays there; the member
 * is locked here. Packs with .keep stay, and cruft packs unless the store has
 * all of them. 0 or negative; what was removed until then the store has.
 * Cost: that of the objects of the member's own.
 */
int network_drop(struct network *network, uint32_t id,
		 const struct newpack_options *options,
		 struct network_drop_report *report, struct error *err);

#endif
