/* SPDX-License-Identifier: MIT */
/*
 * The packs that were there before a repack, and removing those that it has
 * made redundant.
 */
#ifndef PACKS_OLD_PACKS_H
#define PACKS_OLD_PACKS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "odb/odb.h"
#include "packs/named-packs.h"
#include "repo/repo.h"
#include "sys/io.h"

struct old_pack {
	char *base;          /* owned: "<dir>/pack-<hex>" */
	struct sys_stat idx; /* of its index when it was listed */
	int64_t mtime_ns;    /* of the .pack file then; 0: there was none */
};

struct old_packs {
	struct old_pack *packs; /* owned: those without .keep, newest first */
	size_t nr, alloc;
	char *dir; /* owned */
};

/*
 * List the packs of directory `dir` that have an index and no .keep file.
 */
int old_packs_list(struct old_packs *old, const char *dir, struct error *err);
void old_packs_release(struct old_packs *old);

/* Whether a pack of the snapshot, one of the repository's own, is listed. */
bool old_packs_has(const struct old_packs *old, const struct pack *pack);

/* Take a pack ("pack-<hex>") off the list, if it is there. */
void old_packs_spare(struct old_packs *old, const char *name);

/*
 * Whether a listed pack was freshened since (repo/freshen.h): its .pack file
 * has another time.
 */
bool old_pack_is_freshened(const struct old_pack *pack);

/* Take off the list what is not named. */
void old_packs_retain(struct old_packs *old, const struct named_packs *names);

/*
 * Take off the list what a snapshot that was opened later regards as kept: a
 * .keep that came in between has left its pack's objects out of the new pack,
 * and may be gone again when packs are removed.
 */
void old_packs_spare_kept(struct old_packs *old, const struct odb *odb);

/*
 * Remove the listed packs, the newest first, so that what remains of them when
 * that is interrupted is what there was at some time; of each its index first,
 * so that no reader opens a pack that is half gone. A multi-pack-index that
 * names one of them, or cannot be read, goes before them. What stays: those
 * that have a .keep file by now, and those whose index has been replaced: we,
 * or another repack, have made the same pack, and that other may remove ours
 * for it.
 */
int old_packs_remove(struct old_packs *old, struct error *err);

/* Add the names of those that old_packs_remove() would remove. */
int old_packs_names(struct named_packs *names, const struct old_packs *old);

/* Remove the files of the pack "<base>.pack", its index first. 0 or ERR_IO. */
int old_pack_remove(const char *base, struct error *err);

#endif
