/* SPDX-License-Identifier: MIT */
/*
 * Finds the pack that contains a span (a range of mapped bytes), and sends
 * spans from the files of their packs.
 *
 * A plan has the addresses of its spans in mapped packs. Two users need the
 * pack and the offset of a span. One is plans/plan-file.h, which writes them
 * into the file of a plan. The other is a sink that copies ranges of files to a
 * pipe, which is faster than writing bytes from memory.
 */
#ifndef PLANS_PLAN_SPANS_H
#define PLANS_PLAN_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "odb/odb.h"
#include "pack/writer.h"

/*
 * Finds the pack whose memory map contains the `len` bytes at `bytes`. Sets
 * *number to the index of this pack in odb->packs. On input, *number is a
 * guess, for example the result of the last call; any value is allowed. Returns
 * false if no pack has the bytes. Cost: O(packs) after a wrong guess.
 */
bool plan_span_find(uint32_t *number, const struct odb *odb,
		    const uint8_t *bytes, size_t len);

/*
 * A sink that passes its bytes on to `sink`: long spans of packs by put_file(),
 * and all other bytes by put(). If `sink` has no put_file(), all bytes are
 * passed by put(). The put_pinned() of `sink` is not used. Used by one thread
 * at a time.
 */
struct plan_span_sink {
	/* borrowed; all packs are pinned */
	const struct odb *odb;
	struct pack_sink sink; /* where the bytes go */
	/*
	 * private, initially zero: number of the pack of the last span, and 1 +
	 * the descriptor of its file
	 */
	uint32_t number;
	int fd_plus_1;
};

/* Returns the sink that passes its bytes to s->sink. It borrows *s. */
struct pack_sink plan_span_sink(struct plan_span_sink *s);

/* Closes the descriptor. */
void plan_span_sink_release(struct plan_span_sink *s);

#endif
