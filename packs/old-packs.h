/* SPDX-License-Identifier: MIT */
/*
 * The packs that existed before a repack, and removing those that became
 * redundant.
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
	/* owned: "<dir>/pack-<hex>" */
	char *base;
	/* of its index when it was listed */
	struct sys_stat idx;
	/* Of the .pack file when it was listed; 0: there was none. */
	int64_t mtime_ns;
};

struct old_packs {
	/* owned: those without .keep, newest first */
	struct old_pack *packs;
	size_t nr, alloc;
	char *dir; /* owned */
	/*
	 * The share of lock files (sys/share.h). Listing sets it to 0; the
	 * caller may set it afterwards.
	 */
	unsigned share;
};

/*
 * List the packs of directory `dir` that have an index and no .keep file.
 * Release in any case. Returns 0 or a negative error code.
 */
int old_packs_list(struct old_packs *old, const char *dir, struct error *err);
void old_packs_release(struct old_packs *old);

/*
 * Whether a pack of the snapshot, in the repository's own directory, is listed.
 */
bool old_packs_has(const struct old_packs *old, const struct pack *pack);

/* Take a pack ("pack-<hex>") off the list, if it is listed. */
void old_packs_spare(struct old_packs *old, const char *name);

/*
 * Whether a listed pack was freshened since it was listed (repo/freshen.h): the
 * time of its .pack file has changed.
 */
bool old_pack_is_freshened(const struct old_pack *pack);

/* Take all packs off the list that are not named. */
void old_packs_retain(struct old_packs *old, const struct named_packs *names);

/*
 * Take the packs off the list that a later snapshot regards as kept. If a .keep
 * file came after the listing, the new pack lacks the kept pack's objects. The
 * .keep file may be gone again when packs are removed.
 */
void old_packs_spare_kept(struct old_packs *old, const struct odb *odb);

/*
 * Remove the listed packs, the newest first. If that is interrupted, the
 * remaining packs are those of an earlier time. The index of each pack is
 * removed first, so that no reader opens an incomplete pack. A multi-pack-index
 * that names one of the packs, or cannot be read, is removed before them.
 *
 * Two kinds of packs are not removed: packs that have a .keep file by now, and
 * packs whose index was replaced. In the latter case we, or another repack,
 * have made the same pack again. Returns 0 or a negative error code.
 */
int old_packs_remove(struct old_packs *old, struct error *err);

/*
 * Add the names of the packs that old_packs_remove() would remove. Returns 0 or
 * ERR_NOMEM.
 */
int old_packs_names(struct named_packs *names, const struct old_packs *old);

/*
 * Remove the files of the pack "<base>.pack", its index first. Returns 0,
 * ERR_IO or ERR_NOMEM.
 */
int old_pack_remove(const char *base, struct error *err);

#endif
