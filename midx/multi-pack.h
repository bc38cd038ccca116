/* SPDX-License-Identifier: MIT */
/*
 * Writes, checks, expires and repacks multi-pack-indexes: the work of `git
 * multi-pack-index`.
 *
 * A new file is written under a temporary name, made durable and renamed over
 * the old one. After that, files that are no longer needed are removed: packs,
 * the old bitmap index and the old .rev file. Writers of this project and of
 * stock Git exclude each other; see multi-pack-lock.h.
 */
#ifndef MIDX_MULTI_PACK_H
#define MIDX_MULTI_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "odb/odb.h"
#include "pack/pack-name.h"
#include "packs/newpack.h"
#include "refs/refs.h"
#include "sys/progress.h"

/*
 * Maximum number of attempts to write a multi-pack-index, if other processes
 * change the packs meanwhile.
 */
#define MULTI_PACK_MAX_TRIES 10

/* Options for writing a multi-pack-index. All pointers are borrowed. */
struct multi_pack_options {
	size_t dir_nr; /* index into odb->dirs */
	/* Cover only these packs. NULL: all packs. */
	const struct strlist *only;
	/* Packs that are left out of the multi-pack-index. NULL: none. */
	const struct strlist *but;
	/*
	 * true: after the new file is installed, the packs in `but` are
	 * removed.
	 */
	bool removes_but;
	/*
	 * Write nothing if the multi-pack-index on disk covers the same packs
	 * in the same format. With `bitmap`, its bitmap index must also be
	 * undamaged. The preferred pack and the commits that have a bitmap then
	 * stay as they are.
	 */
	bool keep_current;
	/* Name of the preferred pack, with or without extension. NULL: none. */
	const char *preferred;
	/* Receives the progress. NULL: no progress is shown. */
	const struct progress_out *progress;
	/*
	 * Options of a bitmap index that is written, too. NULL: no bitmap index
	 * is written.
	 */
	const struct newpack_options *bitmap;
	struct refs *refs; /* only used with `bitmap` */
	/* Path of a file with the tips (--refs-snapshot); NULL: use `refs`. */
	const char *refs_snapshot;
};

struct multi_pack_result {
	uint32_t object_nr, pack_nr;
	struct oid checksum;
	/*
	 * true: the new multi-pack-index does not cover the pack that
	 * options->preferred names
	 */
	bool no_such_preferred;
	/*
	 * Set on an error: a bitmap index was not possible, because the packs
	 * lack an object that a tip reaches.
	 */
	bool not_closed;
	/*
	 * Set on an error: other processes removed packs or replaced the chain.
	 * The caller may try again with a newer snapshot.
	 */
	bool outdated;
	/* number of commits that have a bitmap in the bitmap index */
	uint32_t bitmap_nr;
	uint64_t bitmap_len;  /* in bytes */
	struct error warning; /* code 0: none */
};

/*
 * Write the multi-pack-index of an object directory over its packs in the
 * snapshot. The new file replaces an older file or a chain. If the new file
 * would equal the old one, it is not written. midx.version chooses the format
 * (1 or 2). A bitmap index is installed before its multi-pack-index. Old bitmap
 * indexes are removed afterwards, even if options->keep_current keeps the
 * multi-pack-index.
 *
 * The new multi-pack-index does not cover the packs in options->but. If
 * options->removes_but is set, these packs are also removed, before the lock is
 * released. In this case, the multi-pack-index on disk must be the one of the
 * snapshot. Otherwise two processes could each rely on packs that the other
 * removes.
 *
 * Returns 0 or a negative error code. ERR_MISSING: there are no packs ("no pack
 * files to index."). ERR_DENIED: another process has the lock
 * (multi-pack-lock.h). ERR_INVALID: midx.version is wrong. ERR_IO: the
 * multi-pack-index on disk is not that of the snapshot. Errors of
 * pack_midx_write() and multi_pack_bitmap_make() are returned, too. If the
 * function fails before it renames a file, nothing has changed.
 */
int multi_pack_write(struct multi_pack_result *result, const struct odb *odb,
		     const struct multi_pack_options *options,
		     struct error *err);

/*
 * Check the multi-pack-index of a directory, or all layers of a chain, against
 * the packs; see pack_midx_verify(). `report` is called for each problem. If
 * the check finds a problem and packs were added or removed since the snapshot
 * was taken, the check is repeated with a newer snapshot. Returns 0 if no
 * problem was found or there is no multi-pack-index, 1 if a problem was
 * reported, or a negative error code: ERR_CORRUPT or ERR_UNSUPPORTED if the
 * file cannot be parsed.
 */
int multi_pack_verify(const struct odb *odb, size_t dir_nr,
		      void (*report)(void *ctx, const char *line), void *ctx,
		      const struct progress_out *progress, struct error *err);

/*
 * Remove packs from which the multi-pack-index takes no object. First, the
 * multi-pack-index is rewritten without these packs. Packs with a .keep file
 * and cruft packs stay. A pack is removed only if each of its objects is in the
 * .idx of a pack that stays. For a promisor pack, the pack that stays must be a
 * promisor pack, too. If the pack that stays is older than the removed pack,
 * its time is set to the present. If its time cannot be set, objects do not
 * count as being in this pack. *outdated: see struct multi_pack_result. Returns
 * the number of removed packs, or a negative error code: ERR_UNSUPPORTED for a
 * chain.
 */
int multi_pack_expire(bool *outdated, const struct odb *odb, size_t dir_nr,
		      const struct progress_out *progress, struct error *err);

/*
 * Put the objects that the multi-pack-index takes from small packs into one new
 * pack, in the local object directory only.
 *
 * `batch_size`: bytes; 0 means all packs. Packs are chosen from the oldest on
 * until their expected sizes add up to `batch_size`. The expected size of a
 * pack is its size times the share of its objects that the multi-pack-index
 * takes. Packs with an expected size of `batch_size` or more are skipped. Cruft
 * packs are never chosen. Packs with a .keep file are chosen only with
 * `pack_kept_objects`.
 *
 * In a partial clone, the same is done a second time for promisor packs. Their
 * objects go into a new promisor pack, and never into another pack.
 *
 * If `newpack` is NULL, no pack is written. The result then says whether one
 * would be written.
 *
 * Returns 1 if a pack was written, 0 if fewer than two packs were chosen, or a
 * negative error code: ERR_UNSUPPORTED for a chain. If a pack was written, the
 * caller must open a new snapshot and write a multi-pack-index of that
 * snapshot.
 */
int multi_pack_repack(const struct odb *odb, uint64_t batch_size,
		      bool pack_kept_objects,
		      const struct newpack_options *newpack, struct error *err);

#endif
