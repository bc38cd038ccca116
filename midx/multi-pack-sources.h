/* SPDX-License-Identifier: MIT */
/*
 * Chooses the packs that a multi-pack-index, or a layer of a chain, will cover.
 */
#ifndef MIDX_MULTI_PACK_SOURCES_H
#define MIDX_MULTI_PACK_SOURCES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "midx/multi-pack.h"
#include "odb/odb.h"
#include "pack/midx-write.h"

struct multi_pack_sources {
	/* owned; the names in it are owned too */
	struct pack_midx_source *packs;
	uint32_t nr;
};

/*
 * List the packs of one directory that the options select. Packs that the
 * layers of `below` cover are left out; NULL: no layers. Returns 0, ERR_MISSING
 * if no pack is left ("no pack files to index."), or ERR_NOMEM. The caller
 * releases *sources in any case.
 */
int multi_pack_sources_init(struct multi_pack_sources *sources,
			    const struct odb *odb,
			    const struct multi_pack_options *options,
			    const struct odb_midx *below, struct error *err);
void multi_pack_sources_release(struct multi_pack_sources *sources);

/*
 * Returns the index in sources->packs of the pack with a given name, with or
 * without extension. Returns PACK_MIDX_NO_PACK if there is no such pack or
 * `given` is NULL.
 */
uint32_t multi_pack_sources_find(const struct multi_pack_sources *sources,
				 const char *given);

/* Returns whether a pack is in the object directory odb->dirs[dir_nr]. */
bool multi_pack_is_in(const struct odb *odb, size_t dir_nr,
		      const struct pack *pack);

/*
 * Read midx.version: 1 or 2, default 1. Returns 0, or ERR_INVALID for any other
 * value.
 */
int multi_pack_version(unsigned *version, const struct repo *repo,
		       struct error *err);

#endif
