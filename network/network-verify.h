/* SPDX-License-Identifier: MIT */
/*
 * Checks a network. Nothing is changed.
 *
 *	the store     has all that its references reach; has
 *	              extensions.preciousObjects
 *	each member   exists and borrows from the store alone; a push to it
 *	              is not told about other members; all that its
 *	              references reach is in the store or in the member
 *	deltas        no base is outside of an island of the delta
 */
#ifndef NETWORK_NETWORK_VERIFY_H
#define NETWORK_NETWORK_VERIFY_H

#include <stdint.h>

#include "base/error.h"
#include "islands/network.h"
#include "packs/newpack.h"

struct network_verify {
	const struct newpack_options *options; /* borrowed */
	/* Called for each problem. `id` is the member, or 0 for the store. */
	void (*wrong)(void *ctx, uint32_t id, const char *what);
	void *ctx;
};

struct network_verify_report {
	uint32_t member_nr;
	/* objects that references of the store reach */
	uint32_t object_nr;
	/* objects that only members have */
	uint32_t unsynced_nr;
	/* members with an operation that has not ended */
	uint32_t pending_nr;
	/*
	 * Deltas in the store that cross islands. New references of members may
	 * cause some. Clones compress these objects again until the next
	 * repack.
	 */
	uint32_t crossing_nr;
};

/*
 * Check a network. Returns 0 if the check was completed (problems were passed
 * to `wrong`), or a negative error code if it could not go on.
 */
int network_verify(struct network_verify_report *report,
		   struct network *network, const struct network_verify *how,
		   struct error *err);

#endif
