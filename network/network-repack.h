/* SPDX-License-Identifier: MIT */
/*
 * Repacks the store of a network into one pack with bitmaps, in which no delta
 * leaves an island of a member. Objects that the store has are then removed
 * from the members.
 *
 * Interrupted operations are settled first, then all members are synced.
 * Objects that no member reaches are kept in a cruft pack. With `prune` old
 * ones are removed, and forks and syncs wait during that time.
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
	struct newpack_options newpack;
	/* remove unreachable objects that are older than `expiry` */
	bool prune;
	int64_t expiry; /* seconds since 1970 */
	/* do not remove objects from members */
	bool keep;
	/*
	 * Called for each member that cannot be handled. The member is skipped.
	 * With `prune` such a member is an error instead, and `warn` is not
	 * called while syncing.
	 */
	void (*warn)(void *ctx, const struct error *what);
	void *ctx;
};

struct network_repack_report {
	struct repack_result store;
	uint32_t member_nr; /* members that were synced */
	/* packs that were removed from members */
	uint32_t pack_nr;
};

/*
 * Repack the network. Returns 0 or a negative error code. No step leaves a
 * member without an object that it needs.
 */
int network_repack(struct network_repack_report *report,
		   struct network *network,
		   const struct network_repack *options, struct error *err);

/*
 * Settle operations that were interrupted and that no process works on now.
 * Forks and adds are completed or undone; leaves and deletes are completed. If
 * that fails for one, the others are still settled. Returns 0, or the error
 * code of the first that failed.
 */
int network_settle(struct network *network,
		   const struct newpack_options *options, struct error *err);

/*
 * Remove what killed commands left in the store: temporary files, files of
 * packs that never got an index, and lock files. If another process holds a
 * lock of the network, nothing is done. A lock file goes if no process with the
 * recorded number runs on this host, or if none is recorded and the file is
 * older than an hour. Each removed lock is a warning. Hold no lock of the
 * network. Returns 0 or a negative error code.
 */
int network_recover(struct network *network, struct error *err);

#endif
