/* SPDX-License-Identifier: MIT */
/*
 * The packs that existed before a repack. Packs that became redundant are
 * removed with these functions.
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
	/* owned: "<dir>/<name>", without extension */
	char *base;
	/* state of the .idx file at the time when the pack was listed */
	struct sys_stat idx;
	/* modification time of the .pack file when the pack was listed */
	int64_t mtime_ns;
};

struct old_packs {
	/* owned: packs without .keep, the newest first */
	struct old_pack *packs;
	size_t nr, alloc;
	char *dir; /* owned */
	/*
	 * For lock files: the permissions of the repository (sys/share.h).
	 * old_packs_list() sets 0; the caller may set it afterwards.
	 */
	unsigned share;
	/*
	 * Called by old_packs_remove() before it removes packs, while no other
	 * process of this project removes packs of `dir`. If some of the listed
	 * packs must stay after all, the callback takes them off the list.
	 * Returns 0, or a negative error code, which ends the removal. NULL: no
	 * such call.
	 */
	int (*last_check)(void *ctx, struct error *err);
	void *ctx; /* argument of last_check */
};

/* Returns whether the .idx file of a pack was removed after it was opened. */
bool old_packs_is_gone(const struct pack *pack);

/*
 * List the packs of directory `dir` that have an .idx and a .pack file, and no
 * .keep file. Packs with temporary names (pack/pack-name.h) are not listed.
 * Release *old in any case. Returns 0 or a negative error code.
 */
int old_packs_list(struct old_packs *old, const char *dir, struct error *err);
void old_packs_release(struct old_packs *old);

/*
 * Returns whether a pack of the snapshot is listed. The pack must be in the
 * repository's own directory.
 */
bool old_packs_has(const struct old_packs *old, const struct pack *pack);

/*
 * Remove the pack with the name `name` ("pack-<hex>", without extension) from
 * the list.
 */
void old_packs_spare(struct old_packs *old, const char *name);

/*
 * Returns whether the modification time of a pack's .pack file has changed
 * since the pack was listed (odb/freshen.h).
 */
bool old_pack_is_freshened(const struct old_pack *pack);

/* Remove all packs from the list, except those in `names`. */
void old_packs_retain(struct old_packs *old, const struct named_packs *names);

/*
 * Remove from the list all packs that have a .keep file in `odb`, a snapshot
 * that was opened after the listing. A .keep file may have been made between
 * the listing and the snapshot. A repack (without --pack-kept-objects) does not
 * copy the objects of packs with a .keep file into the new pack. So the new
 * pack lacks these objects, and the pack with the .keep file must stay. It must
 * stay even if its .keep file is gone again when old packs are removed.
 */
void old_packs_spare_kept(struct old_packs *old, const struct odb *odb);

/*
 * Remove from the list each pack to which an alternate has a symlink of the
 * same name. The alternate seems to have a copy of the objects, but there is
 * only one copy. A hard link is a copy that stays.
 */
void old_packs_spare_linked(struct old_packs *old, const struct odb *odb);

/*
 * Remove the files of the listed packs, holding the lock of their directory,
 * and the lock of its multi-pack-indexes if it is free
 * (packs/multi-pack-remove.h). First, old->last_check is called. Then a
 * multi-pack-index that names one of these packs, or cannot be read, is
 * removed. Then the packs are removed, the newest first, so the oldest packs
 * remain if the process is interrupted. The .idx of each pack goes before its
 * other files, so that no reader opens an incomplete pack.
 *
 * Two kinds of packs are not removed: packs that have a .keep file by now, and
 * packs whose .idx was replaced. In the second case this repack, or another
 * one, has made the same pack again. Returns 0, ERR_DENIED if another process
 * holds the lock, or another negative error code.
 */
int old_packs_remove(struct old_packs *old, struct error *err);

/*
 * Add the names of the packs that old_packs_remove() would remove. Returns 0 or
 * ERR_NOMEM.
 */
int old_packs_names(struct named_packs *names, const struct old_packs *old);

/*
 * Remove the files of the pack "<base>.pack", the .idx first. Returns 0, ERR_IO
 * or ERR_NOMEM.
 */
int old_pack_remove(const char *base, struct error *err);

/*
 * Remove the side files of packs in `dir` that have an .idx but no .pack file,
 * also the .keep file. No reader uses these files: every command writes the
 * .pack before the .idx, and removes the .idx first. Packs with temporary names
 * are left alone. Returns 0 or a negative error code.
 */
int old_packs_remove_lone(const char *dir, struct error *err);

#endif
