/* SPDX-License-Identifier: MIT */
/*
 * Writes the objects of a pack as loose objects, for packs that are too small
 * to keep (receive.unpackLimit, `git unpack-objects`).
 */
#ifndef ODB_UNPACK_H
#define ODB_UNPACK_H

#include <stdint.h>

#include "base/error.h"
#include "odb/loose-write.h"
#include "indexer/indexer.h"
#include "pack/pack.h"

struct unpack_options {
	/*
	 * Returns 1 if the repository has the object and its modification time
	 * is renewed (known_objects_freshen()), 0 if the object must be
	 * written, or a negative error code. NULL: write all objects.
	 */
	int (*has)(void *ctx, const struct oid *oid, struct error *err);
	void *ctx;
	/*
	 * A blob of more bytes than this is written in pieces if the pack
	 * stores it whole (core.bigFileThreshold). 0: no limit.
	 */
	uint64_t piecewise_above;
	/* progress meter that counts the objects; NULL: no meter */
	struct progress *progress;
};

/*
 * Writes the objects of `pack` as loose objects with the writer `w`, in the
 * order of the pack. The pack must not be thin, and its ids must have been
 * verified (pack_indexer_resolve()). The pack is not removed. Returns 0 or a
 * negative error code. After an error the objects written so far stay.
 */
int unpack_pack(struct pack *pack, struct loose_writer *w,
		const struct unpack_options *options, struct error *err);

/*
 * Works like unpack_pack() for a pack that pack_indexer_resolve() has just
 * resolved. Temporary files are made in the directory `dir`, and removed after
 * success. Afterwards only two functions of the indexer may be called: the one
 * that returns its result, and the one that frees it.
 */
int unpack_received(struct pack_indexer *ix, const char *dir,
		    struct loose_writer *w,
		    const struct unpack_options *options, struct error *err);

#endif
