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
 * Returns whether an object needs a loose copy, because the object is kept and
 * its pack is about to be removed. There are two cases:
 * - The object has no other copy. Without a loose copy, it would be lost.
 * - The object has another copy, but its time is older than item->mtime, the
 *   time of the object. With that time, the object would expire too early.
 */
static inline bool loosen_wants(const struct unreachable_item *item)
{
	return item->is_kept && item->is_packed && !item->is_safe &&
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

#endif
