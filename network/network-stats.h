/* SPDX-License-Identifier: MIT */
/* Estimates what a clone of a member costs. */
#ifndef NETWORK_NETWORK_STATS_H
#define NETWORK_NETWORK_STATS_H

#include <stdint.h>

#include "base/error.h"
#include "islands/network.h"

struct network_stats {
	/* objects of a clone of all references */
	uint32_t object_nr;
	/* bytes that are copied as stored */
	uint64_t verbatim_bytes;
	/* objects that are compressed again */
	uint32_t recompressed_nr;
	bool used_bitmap;
};

/*
 * Plan a clone of a member without sending it and without a delta search.
 * Objects that would be compressed again are counted as if they were sent
 * whole. Returns 0 or a negative error code.
 */
int network_stats(struct network_stats *stats, const struct network *network,
		  const struct network_entry *entry, struct error *err);

#endif
