/* SPDX-License-Identifier: MIT */
/*
 * Repacks the store of a fork network into one pack with bitmaps. In that pack,
 * each delta island that has the object of a delta also has the base of the
 * delta. Then the objects that the store has are removed from the members.
 *
 * Before the repack, interrupted operations are settled (completed or undone),
 * and all members are synced: their objects are copied to the store. Objects
 * that no member reaches are kept in a cruft pack. With `prune`, old objects of
 * the cruft pack are removed, and forks and syncs wait during that time.
 */
#ifndef NETWORK_NETWORK_REPACK_H
#define NETWORK_NETWORK_REPACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "islands/network.h"
#include "packs/newpack.h"
#include "repack/repack.h"

struct network_repack {
	/* for packs of members, and packs of synced objects */
	struct newpack_options newpack;
	/* for the packs that replace those of the store, also the cruft pack */
	struct newpack_options store;
	/* Remove unreachable objects that are older than `expiry`. */
	bool prune;
	int64_t expiry; /* seconds since 1970 */
	/* Do not remove from members the objects that the store has. */
	bool keep;
	/*
	 * Called for each member that cannot be repacked or synced; the member
	 * is skipped. With `prune`, a member that cannot be synced is an error,
	 * and `warn` is not called for it.
	 */
	void (*warn)(void *ctx, const struct error *what);
	/*
	 * Called with each warning after which the repack is still complete: a
	 * damaged loose object of the store stays as it is, or packs are
	 * removed without the lock of a multi-pack-index, because another
	 * process has the lock. Each message has one line. NULL: no call.
	 */
	void (*note)(void *ctx, const char *message);
	void *ctx; /* argument of warn and note */
};

struct network_repack_report {
	struct repack_result store;
	/* number of members that were synced */
	uint32_t member_nr;
	/* number of packs that were removed from members */
	uint32_t pack_nr;
};

/*
 * Repack the network. Returns 0 or a negative error code. Each step leaves
 * every member with all objects that it needs.
 */
int network_repack(struct network_repack_report *report,
		   struct network *network,
		   const struct network_repack *options, struct error *err);

/*
 * Settle (complete or undo) operations on the network that were interrupted and
 * that no process works on now. Forks and adds are completed or undone. Leaves
 * and deletes are completed. If one operation cannot be settled, the others are
 * still settled. Returns 0, or the first error code.
 */
int network_settle(struct network *network,
		   const struct newpack_options *options, struct error *err);

/*
 * Remove files that killed commands left in the store: temporary files, files
 * of packs that never got an .idx, and lock files. If another process holds a
 * lock of the network, nothing is done. A lock file is removed if it records a
 * process that has ended: no such process runs on this host. A lock file that
 * records no process is removed when it is older than an hour. A warning is
 * given for each removed lock. The caller must hold no lock of the network.
 * Returns 0 or a negative error code.
 */
int network_recover(struct network *network, struct error *err);

#endif
