/* SPDX-License-Identifier: MIT */
/*
 * Writes loose copies of unreachable objects before their packs are removed
 * (`git repack -A -d`).
 */
#ifndef REPACK_LOOSEN_H
#define REPACK_LOOSEN_H

#include <stdint.h>

#include "base/error.h"
#include "repack/unreachable.h"

/*
 * Returns whether a loose object must exist before old packs are removed: the
 * object is kept, one of these packs has the object, and no copy in another
 * pack or in an alternate stays (item->is_safe).
 */
static inline bool loosen_relies(const struct unreachable_item *item)
{
	return item->is_kept && item->is_packed && !item->is_safe;
}

/*
 * Returns whether loosen_write() writes a loose copy of an object. The loose
 * copy must exist (loosen_relies()), and one of two cases applies:
 * - There is no loose copy. Without a loose copy, the object would be lost.
 * - The time of the loose copy is older than item->mtime, the time of the
 *   object. With the older time, the object would expire too early.
 */
static inline bool loosen_wants(const struct unreachable_item *item)
{
	return loosen_relies(item) &&
	       (!item->is_loose || item->loose_mtime < item->mtime);
}

/*
 * Write a loose object for each object of *u that is kept and has no other copy
 * that stays. Each written file gets the modification time that the object has
 * in *u (`mtime`). If a loose object exists already and is older than its
 * packed copy, no file is written. Instead, the time of the existing file is
 * set to now.
 *
 * The caller next removes the packs that have the objects. So if core.fsync
 * lists packs or loose objects, all files are synced when the function returns.
 * If core.fsync lists neither, no file is synced. *nr: the number of objects
 * written. Returns 0 or a negative error code.
 */
int loosen_write(uint32_t *nr, const struct unreachable *u, struct error *err);

/*
 * The removal of old packs relies on some loose objects (loosen_relies()).
 * Checks that these still exist. A `git prune-packed` may remove a loose object
 * while an old pack has it. So call this function under the lock of the packs
 * (sys/dirlock.h), right before the packs are removed. Other processes wait
 * meanwhile, so the directories of loose objects are listed if there are many
 * objects to check. Returns 0; ERR_MISSING if a loose object is gone; or
 * another negative error code.
 */
int loosen_check(const struct unreachable *u, struct error *err);

#endif
