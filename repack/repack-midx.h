/* SPDX-License-Identifier: MIT */
/*
 * `git repack --write-midx`: a multi-pack-index of the packs that stay, or a
 * layer of those that are new (layered.h), once all that is new is in place and
 * before anything is removed.
 */
#ifndef REPACK_REPACK_MIDX_H
#define REPACK_REPACK_MIDX_H

#include <stdbool.h>

#include "base/error.h"
#include "packs/newpack.h"
#include "packs/old-packs.h"
#include "refs/refs.h"
#include "repack/repack.h"

/* All borrowed. */
struct repack_midx_request {
	const struct repo *repo;
	struct refs *refs;
	const struct newpack_options *newpack;
	const struct old_packs *leaving; /* left out; NULL: none */
	/*
	 * The pack that is preferred. NULL: the one with most objects, so that
	 * a geometric progression keeps its first bits from one repack to the
	 * next.
	 */
	const struct oid *preferred;
	bool bitmap;
	bool bitmap_is_default;  /* nobody asked: do without if it cannot be */
	bool must_contain_cruft; /* else cruft packs are in it only when the
				    bitmap index needs them */
	bool layers;             /* write a layer of what no other covers, */
	uint64_t split_factor;   /* then merge layers by it; 0: do not */
};

/*
 * Write it over a new snapshot of the repository, and a newer one when packs of
 * that are removed before it is written; fill in what *result says of it. With
 * a bitmap index those of single packs are removed, as by stock Git: nobody
 * would use them. Without packs nothing is written.
 */
int repack_midx_write(struct repack_result *result,
		      const struct repack_midx_request *request,
		      struct error *err);

#endif
