/* SPDX-License-Identifier: MIT */
/* Verifies a multi-pack-index against the indexes of its packs. */
#ifndef PACK_MIDX_VERIFY_H
#define PACK_MIDX_VERIFY_H

#include "base/error.h"
#include "pack/idx.h"
#include "pack/midx.h"
#include "sys/progress.h"

struct pack_midx_check {
	/* by midx_pack: the pack's index; NULL if it cannot be opened */
	const struct pack_idx *const *packs;
	/* Receives each problem as a line with stock Git's words. */
	void (*report)(void *ctx, const char *line);
	void *ctx;
	const struct progress_out *progress; /* or NULL */
};

/*
 * Verifies everything that pack_midx_parse() does not: the checksum, the
 * existence of all packs, the order of ids and their fanout ranges, and the
 * pack and offset of each object. Also verifies RIDX and BTMP if they exist.
 * Returns 0, 1 if a problem was reported, or ERR_NOMEM. O(nr log nr).
 */
int pack_midx_verify(const struct pack_midx *midx,
		     const struct pack_midx_check *check, struct error *err);

#endif
