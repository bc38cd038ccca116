/* SPDX-License-Identifier: MIT */
/*
 * What a repack of stock Git leaves behind when it is killed before its packs
 * have their names: ".tmp-<pid>-pack-<hash>.pack" and what belongs to it.
 *
 * A file without its .idx or its .pack is read by nobody, and goes when it is
 * old enough. The two together are a pack for every reader, and others may have
 * relied on it: stock Git removes loose objects that it has, and packs nothing
 * again that is in it. So it goes when
 *
 *  - no such pack, here, is younger than the time of expiry,
 *  - none has a .keep, and no multi-pack-index names one,
 *  - and of the objects in all of them each is in a pack that has a name, here
 *    or in an alternate, or nobody will ask for it.
 *
 * All go, or none. Being loose as well is not enough: stock Git's prune-packed
 * may be about to remove that. `gc` packs before it prunes, so that what is
 * asked for is in a pack with a name then.
 */
#ifndef REPACK_PRUNE_UNNAMED_H
#define REPACK_PRUNE_UNNAMED_H

#include "odb/odb.h"
#include "repack/prune.h"

struct prune_unnamed {
	char **packs; /* owned: "<dir>/.tmp-...", no extension, of the pairs */
	size_t pack_nr, pack_alloc;
	char **files; /* owned: paths of single files */
	size_t file_nr, file_alloc;
	bool stays; /* the packs: one of them is young, or kept */
};

/* List them. 0 or a negative error; release in any case. */
int prune_unnamed_list(struct prune_unnamed *list, const struct repo *repo,
		       const struct prune_options *options, struct error *err);
void prune_unnamed_release(struct prune_unnamed *list);

/* Whether it has to be known what somebody may ask for. */
static inline bool prune_unnamed_asks(const struct prune_unnamed *list)
{
	return list->pack_nr && !list->stays;
}

/*
 * Remove what goes. `odb` has the packs with names; NULL: nothing is known, and
 * packs stay. `is_wanted`: whether somebody may ask for an object.
 */
int prune_unnamed_remove(const struct prune_unnamed *list,
			 const struct odb *odb,
			 bool (*is_wanted)(void *ctx, const uint8_t *raw),
			 void *ctx, const struct prune_options *options,
			 struct error *err);

#endif
