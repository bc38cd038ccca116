/* SPDX-License-Identifier: MIT */
/*
 * Whether a network is as it should be. Nothing is changed.
 *
 *	the store     has all that its references reach; keeps others from
 *	              removing objects
 *	each member   is there and borrows from the store alone; a push to it
 *	              is told of no other member; what its references reach is
 *	              in the store, or its own
 *	deltas        none has a base outside of an island that it is in
 */
#ifndef NETWORK_NETWORK_VERIFY_H
#define NETWORK_NETWORK_VERIFY_H

#include <stdint.h>

#include "base/error.h"
#include "islands/network.h"
#include "packs/newpack.h"

struct network_verify {
	const struct newpack_options *options; /* borrowed */
	/* Told of each thing that is wrong: of a member, or (0) the store. */
	void (*wrong)(void *ctx, uint32_t id, const char *what);
	void *ctx;
};

struct network_verify_report {
	uint32_t member_nr;
	uint32_t object_nr;   /* that references of the store reach */
	uint32_t unsynced_nr; /* objects that only members have */
	uint32_t pending_nr;  /* members for whom something is under way */
	/*
	 * Deltas in the store that cross islands. Some may come with new
	 * references of members; clones have to make these objects anew until
	 * the next repack.
	 */
	uint32_t crossing_nr;
};

/* 0, with everything that is wrong told; or negative when it cannot go on. */
int network_verify(struct network_verify_report *report,
		   struct network *network, const struct network_verify *how,
		   struct error *err);

#endif
