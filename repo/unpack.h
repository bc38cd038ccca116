/* SPDX-License-Identifier: MIT */
/*
 * A pack taken apart into loose objects, for packs too small to be worth
 * keeping (receive.unpackLimit, `git unpack-objects`).
 */
#ifndef REPO_UNPACK_H
#define REPO_UNPACK_H

#include <stdint.h>

#include "base/error.h"
#include "pack/pack.h"
#include "repo/loose-write.h"

struct unpack_options {
	/*
	 * Whether an object is somewhere already and need not be written: 1,
	 * 0 or negative. NULL: none is.
	 */
	int (*has)(void *ctx, const struct oid *oid, struct error *err);
	/*
	 * Called for each object that will be written, before it is; a
	 * negative return ends it all. NULL: not wanted.
	 */
	int (*check)(void *ctx, const struct oid *oid, enum object_type type,
		     const void *data, size_t len, struct error *err);
	void *ctx;
	struct progress *progress; /* counts objects; NULL: none */
};

/*
 * Write the objects of `pack`, which must not be thin and whose ids have been
 * verified (pack_indexer_resolve()), with `w`, in the order of the pack. The
 * pack stays. 0 or a negative error; objects written before it stay.
 */
int unpack_pack(struct pack *pack, struct loose_writer *w,
		const struct unpack_options *options, struct error *err);

#endif
