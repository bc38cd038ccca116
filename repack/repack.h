/* SPDX-License-Identifier: MIT */
/*
 * `git repack`: put all reachable objects into one pack, or loose objects into
 * an additional pack, or small packs into a larger one, and remove what the new
 * pack replaces.
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
 * What happens to unreachable objects. Without -d, only REPACK_CRUFT has an
 * effect.
 */
enum repack_unreachable {
	/* -a: removed with their packs */
	REPACK_DROP,
	REPACK_LOOSEN, /* -A: made loose */
	/* -k: put into the new pack, loose ones too */
	REPACK_KEEP,
	/* --cruft: put into a cruft pack */
	REPACK_CRUFT,
};

struct repack_options {
	struct newpack_options newpack;
	struct newpack_options cruft;        /* with REPACK_CRUFT */
	enum repack_unreachable unreachable; /* with `all` */
	/*
	 * Seconds since 1970 (approxidate_parse_expiry()). REPACK_LOOSEN and
	 * REPACK_CRUFT drop unreachable objects that are not younger. 0: never.
	 */
	int64_t expiry;
	/*
	 * Bytes. Cruft packs of this size or larger are left alone. 0: all
	 * cruft packs are rewritten.
	 */
	uint64_t combine_cruft_below;
	/*
	 * A cruft pack of the objects that are dropped is written here:
	 * "<expire_to>-<checksum>.pack". NULL: no such pack.
	 */
	const char *expire_to;
	/*
	 * Objects that the filter leaves out go into packs of their own:
	 * "<filter_to>-<checksum>.pack", or in the object directory if
	 * `filter_to` is NULL. Sparse patterns that the filter names are loaded
	 * by repack_run(). Borrowed; NULL: no filter.
	 */
	struct filter *filter;
	const char *filter_to;
	/* factor of --geometric; 0: not geometric */
	uint64_t geometric;
	const struct named_packs *keep_packs; /* --keep-pack; NULL: none */
	/* -a: all reachable objects in one pack */
	bool all;
	bool remove_redundant; /* -d */
	/* -l: leave out objects of alternates */
	bool local;
	/*
	 * -b: write a bitmap index: of the multi-pack-index with `write_midx`,
	 * else of the pack.
	 */
	bool write_bitmap;
	/* -m: write a multi-pack-index */
	bool write_midx;
	/*
	 * --write-midx=incremental: write a layer on top of the existing chain.
	 */
	bool midx_layers;
	/* With `midx_layers`: see packs/layered.h for the meaning of both. */
	uint64_t midx_split_factor, midx_new_layer_threshold;
	bool midx_must_contain_cruft;
	/*
	 * The bitmap was not asked for explicitly: do not report if it cannot
	 * be written.
	 */
	bool bitmap_is_default;
	/* include objects of packs with .keep */
	bool pack_kept_objects;
	bool update_server_info;
	/* -i: respect delta islands */
	bool delta_islands;
	/*
	 * Additional roots: these objects and all that they reach are kept.
	 * Missing ones are ignored. Borrowed.
	 */
	const struct oid *roots;
	size_t root_nr;
	/*
	 * With delta_islands: commits that clients ask for by themselves; see
	 * packs/pack-job-parts.h. Borrowed.
	 */
	const struct oid *heads;
	size_t head_nr;
	/*
	 * Makes tips available that are missing because they were promised.
	 * Nothing else that is missing is asked for. Borrowed; NULL: none.
	 */
	const struct odb_provider *tip_provider;
	/*
	 * Called when everything is written, before the packs in `leaving` are
	 * removed. A negative return value stops the repack; the packs stay.
	 * NULL: no call.
	 */
	int (*before_removal)(void *ctx, const struct old_packs *leaving,
			      struct error *err);
	void *ctx;
	/*
	 * Remove packs even with extensions.preciousObjects: the caller knows
	 * which objects other repositories need.
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
	 * Packs in the multi-pack-index or in the new layer. 0: none was
	 * written.
	 */
	uint32_t midx_pack_nr;
	uint32_t cruft_nr; /* objects in cruft packs */
	/* objects in new promisor packs */
	uint32_t promisor_nr;
	/* objects in packs of filtered-out objects */
	uint32_t filtered_nr;
	/* objects that were made loose */
	uint32_t loosened_nr;
	struct error warning; /* code 0: none */
};

/*
 * Repack. Returns 0 or a negative error code. No failure loses objects. Before
 * the new pack is installed, a failure leaves only temporary files behind.
 * After that, some of the replaced packs may still be there.
 */
int repack_run(struct repack_result *result, const struct repo *repo,
	       const struct repack_options *options, struct error *err);

#endif
