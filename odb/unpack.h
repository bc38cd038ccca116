/* SPDX-License-Identifier: MIT */
/*
 * A pack taken apart into loose objects, for packs too small to be worth
 * keeping (receive.unpackLimit, `git unpack-objects`).
 */
#ifndef ODB_UNPACK_H
#define ODB_UNPACK_H

#include <stdint.h>

#include "base/error.h"
#include "odb/loose-write.h"
#include "pack/indexer.h"
#include "pack/pack.h"

struct unpack_options {
	/*
	 * Whether an object need not be written: 1 if it is somewhere already
	 * and counts as new (known_objects_freshen()), 0, or negative. NULL:
	 * all are written.
	 */
	int (*has)(void *ctx, const struct oid *oid, struct error *err);
	void *ctx;
	/*
	 * Blobs that are stored whole and have more bytes than this are not
	 * in memory as a whole (core.bigFileThreshold); 0: all may be.
	 */
	uint64_t piecewise_above;
	struct progress *progress; /* counts objects; NULL: none */
};

/*
 * Write the objects of `pack`, which must not be thin and whose ids have been
 * verified (pack_indexer_resolve()), with `w`, in the order of the pack. The
 * pack stays. 0 or a negative error; objects written before it stay.
 */
int unpack_pack(struct pack *pack, struct loose_writer *w,
		const struct unpack_options *options, struct error *err);

/*
 * The same for a pack that pack_indexer_resolve() has just resolved, by way of
 * files in the directory `dir`, which are removed when that succeeds. The
 * indexer can only be asked for its result and freed afterwards.
 */
int unpack_received(struct pack_indexer *ix, const char *dir,
		    struct loose_writer *w,
		    const struct unpack_options *options, struct error *err);

#endif
