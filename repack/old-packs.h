/* SPDX-License-Identifier: MIT */
/*
 * The packs that were there before a repack, and removing those that it has
 * made redundant.
 */
#ifndef REPACK_OLD_PACKS_H
#define REPACK_OLD_PACKS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "object/oid.h"
#include "repo/odb.h"
#include "repo/repo.h"
#include "sys/io.h"

struct old_pack {
	char *base;          /* owned: "<dir>/pack-<hex>" */
	struct sys_stat idx; /* of its index when it was listed */
};

struct old_packs {
	struct old_pack *packs; /* owned: those without .keep */
	size_t nr, alloc;
	char *dir; /* owned */
};

/*
 * List the packs of directory `dir` that have an index and no .keep file. A
 * pack with a .promisor file is ERR_UNSUPPORTED: its objects must not be
 * mixed with others.
 */
int old_packs_list(struct old_packs *old, const char *dir, struct error *err);
void old_packs_release(struct old_packs *old);

/*
 * Take off the list what a snapshot that was opened later regards as kept: a
 * .keep that came in between has left its pack's objects out of the new pack,
 * and may be gone again when packs are removed.
 */
void old_packs_spare_kept(struct old_packs *old, const struct odb *odb);

/*
 * Remove the listed packs, index first, so that no reader opens a pack that is
 * half gone. A multi-pack-index goes before them. What stays: the one named
 * after `keep` (NULL: none), those that have a .keep file by now, and those
 * whose index has been replaced: another repack has made the same pack, and
 * may remove ours for it.
 */
int old_packs_remove(struct old_packs *old, const struct oid *keep,
		     enum hash_algo algo, struct error *err);

/*
 * Remove the loose objects of the repository that a pack has, as it is on
 * disk now (git-prune-packed(1)).
 */
int old_packs_prune_loose(const struct repo *repo, struct error *err);

#endif
