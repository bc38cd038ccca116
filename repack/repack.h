/* SPDX-License-Identifier: MIT */
/*
 * `git repack`: put what is reachable into one pack, or what is loose into a
 * further one, or small packs into a larger one, and remove what that
 * replaces.
 *
 * Nothing is removed before what replaces it is on disk and visible, and only
 * packs are removed that were there before the references were read, so that
 * a push that arrives meanwhile loses nothing.
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

/* What becomes of objects that nothing reaches; without -d only the last. */
enum repack_unreachable {
	REPACK_DROP,   /* -a: they go with their packs */
	REPACK_LOOSEN, /* -A: they become loose objects */
	REPACK_KEEP,   /* -k: they go into the new pack, loose ones too */
	REPACK_CRUFT,  /* --cruft: they go into a pack of their own */
};

struct repack_options {
	struct newpack_options newpack;
	struct newpack_options cruft;        /* with REPACK_CRUFT */
	enum repack_unreachable unreachable; /* with all */
	/*
	 * From what age on REPACK_LOOSEN and REPACK_CRUFT let them go after
	 * all (approxidate_parse_expiry()); 0: never.
	 */
	int64_t expiry;
	uint64_t combine_cruft_below; /* bytes: larger cruft packs stay; 0: none
					 does */
	const char *expire_to;        /* where a cruft pack of what is let go is
					 written: "<base>", as pack-objects has
					 it; NULL: nowhere */
	/*
	 * What tips reach and this does not let through goes into a pack of its
	 * own: "<filter_to>-<checksum>.pack", NULL: among the others. Patterns
	 * that it names are loaded on the way. Borrowed; NULL: none.
	 */
	struct filter *filter;
	const char *filter_to;
	uint64_t geometric; /* --geometric: the factor; 0: not */
	const struct named_packs *keep_packs; /* --keep-pack; NULL: none */
	bool all;              /* -a: everything reachable, in one pack */
	bool remove_redundant; /* -d */
	bool local;            /* -l: leave out what alternates have */
	bool write_bitmap;     /* -b: of the pack, or */
	bool write_midx;       /* -m: of this */
	bool midx_layers;      /* --write-midx=incremental: of a layer on top of
				  those that are there */
	uint64_t midx_split_factor, midx_new_layer_threshold; /* of these */
	bool midx_must_contain_cruft;
	bool bitmap_is_default; /* nobody asked: be silent when it cannot be */
	bool pack_kept_objects; /* include objects of packs with .keep */
	bool update_server_info;
	bool delta_islands; /* -i */
	/*
	 * Objects that somebody else needs, to be kept with all they reach;
	 * those that are not there are left out. Borrowed.
	 */
	const struct oid *roots;
	size_t root_nr;
	/* With delta_islands: commits that are asked for by themselves, see
	   packs/island-marks.h. Borrowed. */
	const struct oid *heads;
	size_t head_nr;
	/*
	 * Called when all is written, before the listed packs go: the last
	 * chance to see who needs something of theirs. A negative return is the
	 * repack's, and they stay. NULL: nobody is asked.
	 */
	int (*before_removal)(void *ctx, const struct old_packs *leaving,
			      struct error *err);
	void *ctx;
	/* Packs go in spite of extensions.preciousObjects: the caller knows
	   who needs what. */
	bool precious_too;
};

struct repack_result {
	bool is_new;         /* a pack was written */
	struct oid checksum; /* its name; of several, the first's */
	uint32_t object_nr;
	struct write_report report;
	uint32_t bitmap_nr;
	uint64_t bitmap_len;   /* bytes */
	uint32_t midx_pack_nr; /* packs in the multi-pack-index, or the layer;
				  0: none was written */
	uint32_t cruft_nr;     /* objects in cruft packs */
	uint32_t promisor_nr;  /* objects in promisor packs, with all */
	uint32_t filtered_nr;  /* objects in packs of what was filtered */
	uint32_t loosened_nr;  /* objects that became loose */
	struct error warning;  /* code 0: none */
};

/*
 * 0 or negative. On failure nothing is lost: until the new pack is installed
 * the repository is as it was, but for temporary files; after that some of what
 * the pack replaces may be there still.
 */
int repack_run(struct repack_result *result, const struct repo *repo,
	       const struct repack_options *options, struct error *err);

#endif
