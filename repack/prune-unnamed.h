/* SPDX-License-Identifier: MIT */
/*
 * Removes what a repack of stock Git leaves behind when it is killed before its
 * packs get their final names: ".tmp-<pid>-pack-<hash>.pack" and its side
 * files.
 *
 * No reader uses a .pack without .idx, or an .idx without .pack. Such a file is
 * removed when it is old enough. A .pack with its .idx is a pack for every
 * reader, and other processes may rely on it. For example, stock Git removes
 * loose objects that are in such a pack, and does not pack these objects again.
 * So unnamed packs are removed only if all of this is true:
 *
 *  - No unnamed pack of this repository is younger than the time of expiry.
 *  - None has a .keep file, and no multi-pack-index names one.
 *  - Each object of these packs is also in a pack with a final name, here or
 *    in an alternate, or nobody may ask for the object.
 *
 * Either all are removed or none. A loose copy of an object is not enough,
 * because stock Git's prune-packed may be about to remove that copy. `git gc`
 * packs before it prunes, so that wanted objects are in a named pack by then.
 */
#ifndef REPACK_PRUNE_UNNAMED_H
#define REPACK_PRUNE_UNNAMED_H

#include "odb/odb.h"
#include "repack/prune.h"

struct prune_unnamed {
	/*
	 * Owned: "<dir>/.tmp-...", without extension, of .pack files with .idx.
	 */
	char **packs;
	size_t pack_nr, pack_alloc;
	/* owned: paths of files without their other half */
	char **files;
	size_t file_nr, file_alloc;
	/* the packs stay: one of them is young, or has a .keep */
	bool stays;
};

/*
 * List unnamed packs and files. Returns 0 or a negative error code. The caller
 * releases *list in any case.
 */
int prune_unnamed_list(struct prune_unnamed *list, const struct repo *repo,
		       const struct prune_options *options, struct error *err);
void prune_unnamed_release(struct prune_unnamed *list);

/*
 * Returns whether prune_unnamed_remove() will need `is_wanted`, that is,
 * whether there are packs that may be removed.
 */
static inline bool prune_unnamed_asks(const struct prune_unnamed *list)
{
	return list->pack_nr && !list->stays;
}

/*
 * Remove the listed files and packs that may go. `odb`: the packs with final
 * names; if NULL, packs stay. `is_wanted`: returns whether somebody may ask for
 * the object. Returns 0 or a negative error code.
 */
int prune_unnamed_remove(const struct prune_unnamed *list,
			 const struct odb *odb,
			 bool (*is_wanted)(void *ctx, const uint8_t *raw),
			 void *ctx, const struct prune_options *options,
			 struct error *err);

#endif
