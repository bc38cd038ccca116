/* SPDX-License-Identifier: MIT */
/* The packs that a multi-pack-index, or a layer of a chain, will cover. */
#ifndef MIDX_MULTI_PACK_SOURCES_H
#define MIDX_MULTI_PACK_SOURCES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "midx/multi-pack.h"
#include "odb/odb.h"
#include "pack/midx-write.h"

struct multi_pack_sources {
	struct pack_midx_source *packs; /* owned array, names too */
	uint32_t nr;
};

/*
 * Those of the options' directory that the options want, but for what the
 * layers of `below` cover (NULL: none). ERR_MISSING when that is none ("no pack
 * files to index."), or ERR_NOMEM; release in any case.
 */
int multi_pack_sources_init(struct multi_pack_sources *sources,
			    const struct odb *odb,
			    const struct multi_pack_options *options,
			    const struct odb_midx *below, struct error *err);
void multi_pack_sources_release(struct multi_pack_sources *sources);

/*
 * The one whose name was given, with or without extension; or
 * PACK_MIDX_NO_PACK, also for NULL.
 */
uint32_t multi_pack_sources_find(const struct multi_pack_sources *sources,
				 const char *given);

/* Whether a pack lies in object directory `dir_nr` of the snapshot. */
bool multi_pack_is_in(const struct odb *odb, size_t dir_nr,
		      const struct pack *pack);

/* midx.version: 1 or 2. 0 or ERR_INVALID. */
int multi_pack_version(unsigned *version, const struct repo *repo,
		       struct error *err);

#endif
