/* SPDX-License-Identifier: MIT */
/*
 * Declarations of two files that git-prune(1) uses. prune-files.c handles loose
 * objects and temporary files. prune-unnamed.c handles packs that still have a
 * temporary name.
 */
#ifndef REPACK_PRUNE_PARTS_H
#define REPACK_PRUNE_PARTS_H

#include "odb/odb.h"
#include "repack/prune.h"

/*
 * ---- prune-files.c
 *
 * Lists and removes the files that `git prune` looks at: files in the 256
 * directories of loose objects, and temporary files ("tmp_*") in the object
 * directory and below it.
 */

struct prune_file {
	/* Set if `path` is NULL: the id of the loose object. */
	struct oid oid;
	/*
	 * Owned: the path of a file that is no loose object. NULL: a loose
	 * object.
	 */
	char *path;
	int64_t mtime_ns; /* nanoseconds since 1970 */
};

struct prune_files {
	struct prune_file *files; /* owned */
	size_t nr, alloc;
	/* number of loose objects in `files` */
	size_t object_nr;
};

/*
 * List the files in the 256 directories of loose objects. Returns 0 or a
 * negative error code. The caller releases *files in any case.
 */
int prune_files_list(struct prune_files *files, const struct repo *repo,
		     struct error *err);
void prune_files_release(struct prune_files *files);

/*
 * Remove a temporary file or directory, unless it is younger than
 * options->expiry. A file that is already gone is no error. Returns 0 or a
 * negative error code.
 */
int prune_file_stale(const char *path, const struct prune_options *options,
		     struct error *err);

/*
 * Handle a file in a directory of loose objects that is no loose object. A
 * temporary file is removed if it is old enough. Any other file is reported to
 * the callback `hooks.strange` and stays. Returns 0 or a negative error code.
 */
int prune_file_other(const struct prune_file *file,
		     const struct prune_options *options, struct error *err);

/*
 * Remove old temporary files and directories in the object directory and in
 * objects/pack. In and below objects/info, remove only the temporary files that
 * this project writes. Returns 0 or a negative error code.
 */
int prune_stale(const struct repo *repo, const struct prune_options *options,
		struct error *err);

/*
 * ---- prune-unnamed.c
 *
 * Removes files that a repack of stock Git leaves behind if it is killed before
 * its packs get their final names: ".tmp-<pid>-pack-<hash>.pack" and its side
 * files.
 *
 * No reader uses a .pack without .idx, or an .idx without .pack. Such a file is
 * removed when it is old enough. A .pack with its .idx is a pack for every
 * reader, and other processes may rely on it. For example, stock Git removes
 * loose objects that are in such a pack, and does not pack these objects again.
 * So packs without their final names are removed only if all of these
 * conditions hold:
 *
 *  - None of these packs is younger than the time of expiry.
 *  - None has a .keep file, and no multi-pack-index names one.
 *  - Each object of these packs that a process may need is also in a pack with
 *    a final name, here or in an alternate.
 *
 * Either all these packs are removed or none. A loose copy of an object is not
 * enough, because stock Git's prune-packed may be about to remove that copy.
 * `git gc` packs before it prunes, so that wanted objects are in a pack with a
 * final name by then.
 */

struct prune_unnamed {
	/*
	 * Owned. For each .pack file that has an .idx file: its path without
	 * extension, "<dir>/.tmp-...".
	 */
	char **packs;
	size_t pack_nr, pack_alloc;
	/*
	 * owned: paths of .pack files without .idx, and of .idx files without
	 * .pack
	 */
	char **files;
	size_t file_nr, file_alloc;
	/*
	 * true: one of `packs` is young or has a .keep file, so all of them
	 * stay
	 */
	bool stays;
};

/*
 * List packs without their final name, and the files of incomplete packs.
 * Returns 0 or a negative error code. The caller releases *list in any case.
 */
int prune_unnamed_list(struct prune_unnamed *list, const struct repo *repo,
		       const struct prune_options *options, struct error *err);
void prune_unnamed_release(struct prune_unnamed *list);

/*
 * Returns whether there are packs without their final name that may be removed.
 * If not, prune_unnamed_remove() does not call `is_wanted`.
 */
static inline bool prune_unnamed_asks(const struct prune_unnamed *list)
{
	return list->pack_nr && !list->stays;
}

/*
 * Remove the listed files. Remove the listed packs if all conditions in the
 * comment above struct prune_unnamed hold. `odb`: the packs with final names.
 * If `odb` is NULL, all listed packs stay. `is_wanted`: returns whether another
 * process may need the object with the id `raw`. Returns 0 or a negative error
 * code.
 */
int prune_unnamed_remove(const struct prune_unnamed *list,
			 const struct odb *odb,
			 bool (*is_wanted)(void *ctx, const uint8_t *raw),
			 void *ctx, const struct prune_options *options,
			 struct error *err);

#endif
