/* SPDX-License-Identifier: MIT */
/*
 * Repacks a repository (git-repack(1)): puts all reachable objects into one
 * pack, or loose objects into an additional pack, or small packs into a larger
 * one. Afterwards removes the packs and loose objects that the new pack
 * replaces.
 *
 * Nothing is removed before its replacement is on disk and visible. Only packs
 * that existed before the references were read are removed, so a concurrent
 * push loses nothing.
 */
#ifndef REPACK_REPACK_H
#define REPACK_REPACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "packs/newpack.h"
#include "packs/old-packs.h"
#include "repo/repo.h"
#include "walk/filter.h"

/*
 * How unreachable objects are handled. Without -d, no pack is removed, and only
 * REPACK_CRUFT has an effect.
 *
 * With -d, old packs are removed. First, the values below decide which
 * unreachable objects of a removed pack are kept: they are made loose, or are
 * put into the new pack or a cruft pack. The rest of the unreachable objects
 * depends on the filter. Without a filter, these objects are lost. With a
 * filter, they are put into the packs of objects that do not pass the filter.
 * So with a filter, no packed object is lost.
 */
enum repack_unreachable {
	/* -a: unreachable objects are removed with their packs */
	REPACK_DROP,
	/* -A: unreachable objects are made loose */
	REPACK_LOOSEN,
	/* -k: unreachable objects are put into the new pack, loose ones too */
	REPACK_KEEP,
	/* --cruft: unreachable objects are put into a cruft pack */
	REPACK_CRUFT,
};

struct repack_options {
	struct newpack_options newpack;
	/* used with REPACK_CRUFT */
	struct newpack_options cruft;
	/* used with `all` */
	enum repack_unreachable unreachable;
	/*
	 * Seconds since 1970 (approxidate_parse_expiry()). REPACK_LOOSEN and
	 * REPACK_CRUFT drop unreachable objects that are older than this. 0:
	 * nothing is dropped.
	 */
	int64_t expiry;
	/*
	 * Bytes. Cruft packs of this size or larger are not rewritten. 0: all
	 * cruft packs are rewritten.
	 */
	uint64_t combine_cruft_below;
	/*
	 * If not NULL, the objects that are dropped are written into a cruft
	 * pack "<expire_to>-<checksum>.pack".
	 */
	const char *expire_to;
	/*
	 * Borrowed; NULL: no filter. Objects that do not pass the filter are
	 * put into separate packs. The packs are named
	 * "<filter_to>-<checksum>.pack". If `filter_to` is NULL, they get the
	 * same directory and the same form of names as the other new packs.
	 * repack_run() loads sparse patterns that the filter names.
	 */
	struct filter *filter;
	const char *filter_to;
	/* the factor of --geometric; 0: no geometric repack */
	uint64_t geometric;
	const struct strlist *keep_packs; /* --keep-pack; NULL: none */
	/* -a: put all reachable objects into one pack */
	bool all;
	bool remove_redundant; /* -d */
	/* -l: leave out objects of alternates */
	bool local;
	/*
	 * -b: write a bitmap index. With `write_midx` it belongs to the
	 * multi-pack-index, otherwise to the pack.
	 */
	bool write_bitmap;
	/* -m: write a multi-pack-index */
	bool write_midx;
	/*
	 * --write-midx=incremental: write a layer on top of the existing chain.
	 */
	bool midx_layers;
	/* Used with `midx_layers`; packs/layered.h explains both numbers. */
	uint64_t midx_split_factor, midx_new_layer_threshold;
	bool midx_must_contain_cruft;
	/*
	 * true: no option asks for the bitmap index; a bitmap index is written
	 * by default. If the bitmap index cannot be written, there is no
	 * warning.
	 */
	bool bitmap_is_default;
	/* Also pack objects of packs with .keep. */
	bool pack_kept_objects;
	bool update_server_info;
	/* -i: keep deltas within delta islands */
	bool delta_islands;
	/*
	 * Borrowed: additional roots. These objects and all that they reach are
	 * kept. Roots that do not exist are ignored.
	 */
	const struct oid *roots;
	size_t root_nr;
	/*
	 * Borrowed: commits that clients often ask for alone, such as HEADs.
	 * Used with delta_islands (packs/pack-job-parts.h).
	 */
	const struct oid *heads;
	size_t head_nr;
	/*
	 * Borrowed; NULL: none. A callback that fetches missing tips that a
	 * remote has promised. Other missing objects are not fetched.
	 */
	const struct odb_provider *tip_provider;
	/*
	 * Called when all new files are written, before the packs in `leaving`
	 * are removed. If it returns a negative value, the repack stops and the
	 * packs stay. NULL: no call.
	 */
	int (*before_removal)(void *ctx, const struct old_packs *leaving,
			      struct error *err);
	/*
	 * Called for each damaged loose object that is left as it is, because
	 * it cannot be packed. Also called if packs are removed without the
	 * lock of the multi-pack-index, because another process has the lock;
	 * this message names the lock file. Each message has one line. NULL: no
	 * call.
	 */
	void (*warn)(void *ctx, const char *message);
	void *ctx; /* argument of before_removal and warn */
	/*
	 * Remove packs even if extensions.preciousObjects is set, because the
	 * caller knows which objects other repositories need.
	 */
	bool precious_too;
};

struct repack_result {
	bool is_new;         /* a pack was written */
	struct oid checksum; /* name of the first pack */
	uint32_t object_nr;
	struct write_report report;
	uint32_t bitmap_nr;
	uint64_t bitmap_len; /* bytes */
	/*
	 * Number of packs that the new multi-pack-index, or its new layer,
	 * covers. 0: no multi-pack-index was written.
	 */
	uint32_t midx_pack_nr;
	/*
	 * true: repack_run() failed because packs of the multi-pack-index lack
	 * an object that its bitmap index needs
	 */
	bool midx_not_closed;
	/* number of objects in new cruft packs */
	uint32_t cruft_nr;
	/* number of objects in new promisor packs */
	uint32_t promisor_nr;
	/*
	 * number of objects that the filter left out; these objects are in
	 * separate packs
	 */
	uint32_t filtered_nr;
	/* number of objects that were written as loose objects */
	uint32_t loosened_nr;
	/* true: a ref is broken, so info/refs was not updated */
	bool info_refs_is_old;
	struct error warning; /* code 0: none */
};

/*
 * Repack a repository. Returns 0 or a negative error code. No failure loses
 * objects. If an error occurs before the new pack is installed, only temporary
 * files are left behind. After a later error, some of the replaced packs may
 * still be there.
 */
int repack_run(struct repack_result *result, const struct repo *repo,
	       const struct repack_options *options, struct error *err);

#endif
