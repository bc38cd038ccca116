/* SPDX-License-Identifier: MIT */
/* What clones of members cost. */
#ifndef NETWORK_NETWORK_STATS_H
#define NETWORK_NETWORK_STATS_H

#include <stdint.h>

#include "base/error.h"
#include "islands/network.h"

struct network_stats {
	uint32_t object_nr;       /* of a clone of all references */
	uint64_t verbatim_bytes;  /* of these, copied as stored */
	uint32_t recompressed_nr; /* objects that are made anew */
	bool used_bitmap;
};

/*
 * Plan a clone of a member as it would be sent, without sending it, and
 * without a search for deltas: what is to be recompressed is counted as if it
 * were sent whole. 0 or negative.
 */
int network_stats(struct network_stats *stats, const struct network *network,
		  const struct network_entry *entry, struct error *err);

#endif
