/* SPDX-License-Identifier: MIT */
/*
 * Finds the pack that contains a span (a range of mapped bytes), and sends
 * spans from the files of their packs.
 *
 * A plan has its spans as addresses in mapped packs. Two users need the pack
 * and the offset. One is the file of a plan (plans/plan-file.h). The other is a
 * sink that takes ranges of files, which is faster than writing bytes to a
 * pipe.
 */
#ifndef PLANS_PLAN_SPANS_H
#define PLANS_PLAN_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "odb/odb.h"
#include "pack/writer.h"

/*
 * Finds the pack of the snapshot in whose map the `len` bytes at `bytes` are.
 * *number is the number of the pack in odb->packs. On input, *number is a
 * guess, for example the result of the last call; any value is allowed. Returns
 * false if no pack has the bytes. Cost: O(packs) after a wrong guess.
 */
bool plan_span_find(uint32_t *number, const struct odb *odb,
		    const uint8_t *bytes, size_t len);

/*
 * A sink in front of another sink that has no put_pinned(). Passes long spans
 * of packs to sink.put_file(), and all other bytes to sink.put(). Used by one
 * thread at a time.
 */
struct plan_span_sink {
	/* borrowed; all packs are pinned */
	const struct odb *odb;
	struct pack_sink sink; /* where the bytes go */
	/* private, zero: the pack of the last span, and its descriptor + 1 */
	uint32_t number;
	int fd_plus_1;
};

/* Returns the sink, which borrows *s. */
struct pack_sink plan_span_sink(struct plan_span_sink *s);

/* Closes the descriptor. */
void plan_span_sink_release(struct plan_span_sink *s);

#endif
