/* SPDX-License-Identifier: MIT */
/*
 * Checks a network. Nothing is changed.
 *
 *	the store     has all objects that its references reach; has
 *	              extensions.preciousObjects
 *	each member   exists; has the store as its only alternate; does not
 *	              advertise references of other members to a client that
 *	              pushes; all objects that its references reach are in the
 *	              store or in the member
 *	deltas        the base of a delta is in every delta island that the
 *	              object of the delta is in
 */
#ifndef NETWORK_NETWORK_VERIFY_H
#define NETWORK_NETWORK_VERIFY_H

#include <stdint.h>

#include "base/error.h"
#include "islands/network.h"
#include "packs/newpack.h"

struct network_verify {
	const struct newpack_options *options; /* borrowed */
	/*
	 * Called for each problem. `id` is the id of the member with the
	 * problem, or 0 for the store.
	 */
	void (*wrong)(void *ctx, uint32_t id, const char *what);
	void *ctx;
};

struct network_verify_report {
	uint32_t member_nr;
	/* number of objects that references of the store reach */
	uint32_t object_nr;
	/* number of objects that members reach and that the store lacks */
	uint32_t unsynced_nr;
	/*
	 * number of members whose operation (add, fork, leave, delete) has not
	 * ended
	 */
	uint32_t pending_nr;
	/*
	 * Number of objects in the store that are stored as deltas and that are
	 * in a delta island (islands/islands.h) in which the delta base is not.
	 * A new reference of a member repository may put an object, but not its
	 * base, into an island. Until the next repack, clones compress such an
	 * object again instead of copying its delta.
	 */
	uint32_t crossing_nr;
};

/*
 * Check a network. Returns 0 if all checks were made; problems were passed to
 * `wrong`. Returns a negative error code if the check could not go on.
 */
int network_verify(struct network_verify_report *report,
		   struct network *network, const struct network_verify *how,
		   struct error *err);

/*
 * ---- network-stats.c
 *
 * Estimates the cost of a clone of a member, and counts the bytes of packs.
 */

struct network_stats {
	/* number of objects in a clone of all references */
	uint32_t object_nr;
	/* number of bytes that are copied as they are stored */
	uint64_t verbatim_bytes;
	/* number of objects that have to be compressed again */
	uint32_t recompressed_nr;
	bool used_bitmap;
	/* bytes of the packs in the object directory of the member */
	uint64_t own_pack_bytes;
};

/*
 * Plan a clone of a member: nothing is sent, and deltas are not searched.
 * Objects that would be compressed again are counted as if they were sent
 * whole. Returns 0 or a negative error code.
 */
int network_stats(struct network_stats *stats, const struct network *network,
		  const struct network_entry *entry, struct error *err);

/*
 * Sets *bytes to the number of bytes of the store's packs, without their index
 * files. Returns 0 or a negative error code; *bytes is then 0.
 */
int network_stats_store(uint64_t *bytes, const struct network *network,
			struct error *err);

#endif
