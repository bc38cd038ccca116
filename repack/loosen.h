/* SPDX-License-Identifier: MIT */
/*
 * What nothing reaches, out of packs that are about to go into loose objects
 * (`git repack -A -d`).
 */
#ifndef REPACK_LOOSEN_H
#define REPACK_LOOSEN_H

#include <stdint.h>

#include "base/error.h"
#include "repack/unreachable.h"

/*
 * Whether the object, or the time of its latest copy, is lost with its pack
 * otherwise, and is to be kept.
 */
static inline bool loosen_wants(const struct unreachable_item *item)
{
	return item->is_kept && item->is_packed && !item->is_safe &&
	       (!item->is_loose || item->loose_mtime < item->mtime);
}

/*
 * Write loose objects for those of *u that are kept and have no other copy
 * that stays, each with the time that *u says. A loose object that is
 * older than its packed copy gets the present time. All are durable on return,
 * also where core.fsync does not list loose objects, for their packs are
 * removed next (not where it does not list packs either). *nr: how many.
 */
int loosen_write(uint32_t *nr, const struct unreachable *u, struct error *err);

#endif
