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
 * Returns whether the object is kept and needs a loose copy: otherwise the
 * object, or the time of its latest copy, would be lost with its pack.
 */
static inline bool loosen_wants(const struct unreachable_item *item)
{
	return item->is_kept && item->is_packed && !item->is_safe &&
	       (!item->is_loose || item->loose_mtime < item->mtime);
}

/*
 * Write a loose object for each object of *u that is kept and has no other copy
 * that stays. The file gets the item's `mtime`. A loose object that is older
 * than its packed copy gets the present time instead.
 *
 * On return all files are durable, even if core.fsync does not list loose
 * objects, because their packs are removed next. They are not synced if
 * core.fsync does not list packs either. *nr: how many objects were written.
 * Returns 0 or a negative error code.
 */
int loosen_write(uint32_t *nr, const struct unreachable *u, struct error *err);

#endif
