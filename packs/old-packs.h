/* SPDX-License-Identifier: MIT */
/*
 * The packs that existed before a repack. Packs that became redundant are
 * removed with these functions.
 *
 * struct old_packs is a list of packs that old_packs_remove() will remove from
 * the disk. A function that takes a pack off this list saves the pack: its
 * files stay.
 */
#ifndef PACKS_OLD_PACKS_H
#define PACKS_OLD_PACKS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "odb/odb.h"
#include "pack/pack-name.h"
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
	/* owned: packs without .keep, sorted by name */
	struct old_pack *packs;
	size_t nr, alloc;
	char *dir; /* owned */
	/*
	 * For lock files: the permissions of the repository (sys/share.h).
	 * old_packs_list() sets 0; the caller may set it afterwards.
	 */
	unsigned share;
};

/*
 * What the caller of old_packs_remove() relies on. If `relies_on` or `may_age`
 * is NULL, its result counts as true for all packs.
 */
struct old_packs_guard {
	/* borrowed: a snapshot that was opened after the packs were listed */
	const struct odb *odb;
	/*
	 * Returns whether objects may have been left out of new packs because
	 * `pack` has them. Called for each local pack of the snapshot that is
	 * not listed.
	 */
	bool (*relies_on)(void *ctx, const struct pack *pack);
	/*
	 * Returns whether the age of objects in the listed pack `name`
	 * ("pack-<hex>") matters. If so, and another process has updated the
	 * modification time of the pack since the listing, the pack is not
	 * removed. Called only for packs with an updated time.
	 */
	bool (*may_age)(void *ctx, const char *name);
	/*
	 * borrowed: names of the packs that the caller has made in the
	 * directory, and on which it relies; NULL: none
	 */
	const struct strlist *made;
	/*
	 * Called right before packs are removed. Checks that the other files on
	 * which the caller relies exist. Returns 0, ERR_MISSING with the reason
	 * if one is gone, or another negative error code. NULL: no other files.
	 */
	int (*check)(void *ctx, struct error *err);
	/*
	 * Called if packs are removed without the lock of the multi-pack-index,
	 * because another process has the lock. The message is one line, and
	 * names the lock file. NULL: no call.
	 */
	void (*held)(void *ctx, const char *message);
	void *ctx; /* argument of the callbacks */
};

/* Returns whether the .idx file of an opened pack was removed meanwhile. */
bool old_packs_is_gone(const struct pack *pack);

/*
 * Returns whether a pack of a snapshot must stay for now: it has a .keep file
 * by now, or another process has freshened it (odb/freshen.h) or made it again
 * since the snapshot.
 */
bool old_packs_is_in_use(const struct pack *pack);

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
 * Take the pack with the name `name` ("pack-<hex>", without extension) off the
 * list of packs to remove, so that its files stay.
 */
void old_packs_spare(struct old_packs *old, const char *name);

/*
 * If a pack was freshened since the listing, take it off the list of packs to
 * remove, so that its files stay. Freshened: another process has updated the
 * modification time of the pack, because it uses objects of the pack
 * (odb/freshen.h).
 *
 * The new packs of this repack have recorded the time before the update. So the
 * updated time would be lost with the old pack. The next repack will read the
 * updated time, and can then remove the pack. A freshened pack stays on the
 * list if guard->may_age() returns false for the pack. Returns 0 or ERR_NOMEM.
 */
int old_packs_spare_freshened(struct old_packs *old,
			      const struct old_packs_guard *guard,
			      struct error *err);

/* Take all packs off the list of packs to remove, except those in `names`. */
void old_packs_retain(struct old_packs *old, const struct strlist *names);

/*
 * If a pack has a .keep file in `odb`, take it off the list of packs to remove.
 * `odb` is a snapshot that was opened after the listing. A .keep file may have
 * been made between the listing and the snapshot. A repack (without
 * --pack-kept-objects) does not copy the objects of packs with a .keep file
 * into the new pack. So the new pack lacks these objects, and the pack with the
 * .keep file must stay. It must stay even if its .keep file is gone again when
 * old packs are removed.
 */
void old_packs_spare_kept(struct old_packs *old, const struct odb *odb);

/*
 * If the .pack file of an alternate is a symlink to a listed pack of the same
 * name, take the listed pack off the list of packs to remove. The alternate
 * seems to have a copy of the pack, but the symlink would lead nowhere after
 * the pack is removed. A hard link is no reason to keep the pack, because the
 * alternate's file stays.
 */
void old_packs_spare_linked(struct old_packs *old, const struct odb *odb);

/*
 * Remove the files of the listed packs. The function holds the lock of their
 * directory meanwhile. If the lock of the multi-pack-indexes is free, the
 * function holds this lock, too (packs/multi-pack-remove.h). First, a
 * multi-pack-index that names one of these packs, or cannot be read, is
 * removed. Then the packs are removed, the newest first, so the oldest packs
 * remain if the process is interrupted. The .idx of each pack goes before its
 * other files, so that no reader opens an incomplete pack.
 *
 * Three kinds of packs are not removed: packs that have a .keep file by now;
 * packs that were freshened (old_packs_spare_freshened()); and packs whose .idx
 * was replaced. In the last case this repack, or another one, has made the same
 * pack again.
 *
 * No pack is removed if another process has removed a pack or another file on
 * which the caller relies: the listed packs may now have the last copies of
 * some objects. A later repack will remove the listed packs. The result is then
 * ERR_MISSING.
 *
 * `guard`: NULL if the caller relies on no other pack; freshened packs are then
 * removed, too. Returns 0, ERR_MISSING, ERR_DENIED if another process keeps the
 * lock of the directory, or another negative error code.
 */
int old_packs_remove(struct old_packs *old, const struct old_packs_guard *guard,
		     struct error *err);

/*
 * Add to *names the names of the packs that old_packs_remove() would remove.
 * Returns 0 or ERR_NOMEM.
 */
int old_packs_names(struct strlist *names, const struct old_packs *old);

/*
 * Remove the files of the pack "<base>.pack", the .idx first. Returns 0, ERR_IO
 * or ERR_NOMEM.
 */
int old_pack_remove(const char *base, struct error *err);

/*
 * If a pack in `dir` has an .idx but no .pack file, remove the .idx and all
 * side files of the pack, also the .keep file. No reader uses these files:
 * every command writes the .pack before the .idx, and removes the .idx first.
 * Packs with temporary names are left alone. Returns 0 or a negative error
 * code.
 */
int old_packs_remove_lone(const char *dir, struct error *err);

#endif
