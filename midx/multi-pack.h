/* SPDX-License-Identifier: MIT */
/*
 * Writing, checking and using up multi-pack-indexes: what `git
 * multi-pack-index` does.
 *
 * A new file is written beside the old one, made durable and renamed over it;
 * only then anything that it makes redundant is removed: packs, and the
 * bitmap index and order of the old one. Writers exclude each other, and stock
 * Git's, see multi-pack-lock.h.
 */
#ifndef MIDX_MULTI_PACK_H
#define MIDX_MULTI_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "odb/odb.h"
#include "packs/named-packs.h"
#include "packs/newpack.h"
#include "refs/refs.h"
#include "sys/progress.h"

/* How often others may come in between before that is an error. */
#define MULTI_PACK_MAX_TRIES 10

/* All borrowed. */
struct multi_pack_options {
	size_t dir_nr;                  /* of odb->dirs */
	const struct named_packs *only; /* cover these; NULL: all */
	const struct named_packs *but;  /* leave these out; or NULL */
	bool removes_but;               /* and remove them in the end */
	const char *preferred;          /* with or without extension; or NULL */
	const struct progress_out *progress; /* or NULL */
	/* With a bitmap index; see multi-pack-bitmap.h. NULL: without. */
	const struct newpack_options *bitmap;
	struct refs *refs;         /* with `bitmap` */
	const char *refs_snapshot; /* path of a file; NULL: the refs' tips */
};

struct multi_pack_result {
	uint32_t object_nr, pack_nr;
	struct oid checksum;
	bool no_such_preferred; /* the preferred pack is none of those */
	bool not_closed;        /* an error: the bitmap index needs an object
				   that is not covered */
	bool outdated;          /* an error: others have removed packs, or
				   replaced the chain: a newer snapshot may do */
	uint32_t bitmap_nr;     /* commits with bitmaps */
	uint64_t bitmap_len;    /* bytes of the bitmap index */
	struct error warning;   /* code 0: none */
};

/*
 * Write the multi-pack-index of an object directory over its packs in the
 * snapshot, in place of a chain too. midx.version is honoured (1 or 2; another
 * is ERR_INVALID). A file that would be the same is left as it is. A bitmap
 * index is in place before the multi-pack-index that it is named after, and
 * those of others are removed when that is. ERR_MISSING when there are no packs
 * ("no pack files to index."), ERR_DENIED (multi-pack-lock.h), or what
 * pack_midx_write() says, or multi_pack_bitmap_make(): nothing was written
 * then.
 *
 * With options->removes_but it has to be the snapshot's that is replaced, else
 * ERR_IO, and packs are removed under the same lock: of two who do that with
 * different multi-pack-indexes each would rely on what the other removes.
 */
int multi_pack_write(struct multi_pack_result *result, const struct odb *odb,
		     const struct multi_pack_options *options,
		     struct error *err);

/*
 * Check the multi-pack-index of a directory against the packs, see
 * pack_midx_verify(), which calls `report`; of a chain, all layers. Where
 * something is wrong and packs came or went since the snapshot was taken, all
 * is looked at again as it is then. Returns 0 (also when there is none), 1 when
 * something was reported, ERR_CORRUPT or ERR_UNSUPPORTED when it cannot be
 * parsed, or another error.
 */
int multi_pack_verify(const struct odb *odb, size_t dir_nr,
		      void (*report)(void *ctx, const char *line), void *ctx,
		      const struct progress_out *progress, struct error *err);

/*
 * Remove the packs from which the multi-pack-index takes no object, but for
 * kept and cruft ones, and rewrite it without them first. A pack goes only if
 * each of its objects is found in the index of a pack that stays. Returns the
 * number of packs removed, or a negative error; nothing to do is 0; a chain is
 * ERR_UNSUPPORTED. *outdated is that of the result of multi_pack_write().
 */
int multi_pack_expire(bool *outdated, const struct odb *odb, size_t dir_nr,
		      const struct progress_out *progress, struct error *err);

/*
 * Put what the multi-pack-index takes from small packs into one new pack. With
 * a `batch_size` of bytes: packs from the oldest on whose share of taken
 * objects makes them smaller than that, until they add up to it. 0: all. Kept
 * packs are left out unless `pack_kept_objects`, cruft packs always. Fewer than
 * two packs: nothing is done. Returns 1 when a pack was written: the caller
 * takes a new snapshot and writes a multi-pack-index of it. Local directory
 * only. A chain is ERR_UNSUPPORTED.
 */
int multi_pack_repack(const struct odb *odb, uint64_t batch_size,
		      bool pack_kept_objects,
		      const struct newpack_options *newpack, struct error *err);

#endif
