/* SPDX-License-Identifier: MIT */
/*
 * Repacking the store of a network: one pack in which no delta leaves an island
 * of a member, with bitmaps; and removing from members what the store has.
 *
 * What was begun and killed is settled first, then all members are brought up
 * to date. What no member reaches any more is kept in a cruft pack; it goes
 * only where that is asked for, and while it does, forks and syncs wait.
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
	bool prune;     /* remove what nothing reaches */
	int64_t expiry; /* and has not been in use since (seconds since 1970) */
	bool keep;      /* members keep what they have */
	/*
	 * Told of a member that is not as it should be, and is left alone; with
	 * `prune` that is an error instead.
	 */
	void (*warn)(void *ctx, const struct error *what);
	void *ctx;
};

struct network_repack_report {
	struct repack_result store;
	uint32_t member_nr; /* brought up to date */
	uint32_t pack_nr;   /* packs that members dropped */
};

/* 0 or negative. Each step leaves all members whole. */
int network_repack(struct network_repack_report *report,
		   struct network *network,
		   const struct network_repack *options, struct error *err);

/*
 * Settle what was begun and nobody works on any more: forks and adds are
 * completed or forgotten, leaves and deletes completed. 0 or negative.
 */
int network_settle(struct network *network,
		   const struct newpack_options *options, struct error *err);

#endif
