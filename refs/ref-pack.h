/* SPDX-License-Identifier: MIT */
/*
 * Packing refs: loose ones go into packed-refs, and their files away.
 *
 * A loose file is removed under its lock, when it still has the value that was
 * packed; until then readers find it there, afterwards in packed-refs.
 */
#ifndef REFS_REF_PACK_H
#define REFS_REF_PACK_H

#include <stdbool.h>

#include "base/error.h"
#include "odb/odb.h"
#include "repo/repo.h"

struct ref_pack_options {
	/*
	 * Whether a loose ref is packed. Symbolic and broken refs, and those
	 * of a single work tree, are not asked about: they stay.
	 */
	bool (*wants)(void *ctx, const char *name);
	/* Told of a ref that names no object, and stays. */
	void (*broken)(void *ctx, const char *name);
	void *ctx;
	bool prune;     /* remove the loose files */
	bool if_needed; /* not before there are many: ref_pack_limit() */
};

/*
 * How many wanted loose refs are worth packing anew a packed-refs file of
 * `size` bytes: stock Git's measure, taken from what it does.
 */
size_t ref_pack_limit(uint64_t size);

/*
 * Whether ref_pack() with `if_needed` would find enough to do. 1, 0, also when
 * someone else is at it, or negative.
 */
int ref_pack_is_due(const struct repo *repo,
		    const struct ref_pack_options *options, struct error *err);

/*
 * Pack. Tags that were packed without what they peel to get that as well. 0 or
 * a negative error: ERR_DENIED when packed-refs is locked. Loose refs that
 * someone else has locked or changed meanwhile stay.
 */
int ref_pack(const struct repo *repo, struct odb_reader *reader,
	     const struct ref_pack_options *options, struct error *err);

#endif
