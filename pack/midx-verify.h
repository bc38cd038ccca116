/* SPDX-License-Identifier: MIT */
/* Checking a multi-pack-index against the indexes of the packs it covers. */
#ifndef PACK_MIDX_VERIFY_H
#define PACK_MIDX_VERIFY_H

#include "base/error.h"
#include "pack/idx.h"
#include "pack/midx.h"
#include "sys/progress.h"

struct pack_midx_check {
	/* By midx_pack: the pack's index; NULL: it cannot be opened. */
	const struct pack_idx *const *packs;
	/* Is told what is wrong, in stock Git's words, a line each. */
	void (*report)(void *ctx, const char *line);
	void *ctx;
	const struct progress_out *progress; /* or NULL */
};

/*
 * Check everything that pack_midx_parse() does not: the checksum, that all
 * packs are there, that ids ascend and lie in their fanout range, that each is
 * in its pack at the offset given, and that RIDX and BTMP, where they are
 * there, are the order of the packs. Returns 0; 1 when something was reported;
 * or ERR_NOMEM. O(nr log nr).
 */
int pack_midx_verify(const struct pack_midx *midx,
		     const struct pack_midx_check *check, struct error *err);

#endif
