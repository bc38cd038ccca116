/* SPDX-License-Identifier: MIT */
/*
 * Brings the directory of a local copy from one generation to a newer one,
 * while other processes read the repository.
 *
 *	stored_refresh_download   downloads files of the new generation into
 *	                          the cache
 *	stored_refresh_files      links files into the directory: packs, then
 *	                          their indexes, then the multi-pack-index, then
 *	                          the rest (layers before their chain); then
 *	                          writes the refs; then removes old files that
 *	                          are no packs (a chain before its layers)
 *	stored_refresh_tidy       removes old packs (indexes first) and old
 *	                          reftables
 *	(then the caller replaces the marker, the file that says which
 *	generation the copy has)
 *
 * During the refresh, a reader sees either the old refs or the new ones, with
 * all their objects. This is like a push and a repack while others read. If the
 * process is killed before the marker is replaced, the marker still names the
 * old generation. The functions may then be called again for the same or a
 * newer generation.
 *
 * The caller holds the lock CHANGE of the copy, so no other process changes the
 * copy (copies/node.h).
 */
#ifndef COPIES_REFRESH_H
#define COPIES_REFRESH_H

#include "stored/cache.h"

/*
 * A refresh, which brings the directory of a copy from one generation to a
 * newer one. All pointers are borrowed.
 */
struct stored_refresh {
	struct stored_cache *cache;
	const struct generation_place *place;
	const char *dir;
	/*
	 * the generation that the directory has; NULL: the directory is empty
	 */
	const struct generation *before;
	const struct generation *g;
};

/*
 * Downloads in parallel the files of r->g that r->before lacks or that are not
 * in the directory. Nothing else is changed. Returns 0, ERR_MISSING if the
 * store lacks a file, ERR_CORRUPT if the content of a file is wrong, ERR_IO or
 * another error.
 */
int stored_refresh_download(const struct stored_refresh *r, struct error *err);

/*
 * Works like stored_refresh_download(). In addition, the callback `also` is
 * called once while files are downloaded. If it returns a negative error code,
 * no further download begins, and this function returns the code.
 */
int stored_refresh_download_with(const struct stored_refresh *r,
				 int (*also)(void *ctx, struct error *err),
				 void *ctx, struct error *err);

/*
 * Puts the files and the refs of r->g into the directory. (r->g is the
 * generation, the version of the repository, that the local copy gets.) Also
 * removes files that this generation does not have. A file is removed only if
 * its path is one that generations may have (stored_layout_allows()). So files
 * that exist only in local copies, such as lock files, stay. Packs and
 * reftables are not removed yet. Returns 0 or a negative error code.
 */
int stored_refresh_files(const struct stored_refresh *r, struct error *err);

/*
 * Removes packs that the generation r->g lacks, and reftables that tables.list
 * does not name. A refresh that was killed may have left packs of another
 * generation. They must be removed at once: a push could rely on their objects,
 * which the store may have deleted. Also removes files from the cache that no
 * copy has any more. A file that cannot be removed stays.
 */
void stored_refresh_tidy(const struct stored_refresh *r);

/*
 * The copy has one generation (version) of the repository, r->g. Returns 1 if
 * the directory of the copy (r->dir) may have objects that r->g does not have,
 * 0 if not, or a negative error code. The directory may have such objects if it
 * has loose objects, alternates, or a file below "objects/" that a generation
 * can have and that r->g does not have, for example a pack, multi-pack-index or
 * commit-graph.
 *
 * A process that changes the copy holds the lock CHANGE. If the caller does not
 * hold this lock, the result may also be 1 because another process is changing
 * the copy. Cost: listing five directories.
 */
int stored_refresh_has_others(const struct stored_refresh *r,
			      struct error *err);

/*
 * Removes from the directory the objects and files that
 * stored_refresh_has_others() looks for: those that r->g does not have. Before
 * the call, the directory must have the files of r->g, and must not have a
 * newer generation. Returns 0, or a negative error code if some objects or
 * files may be left.
 */
int stored_refresh_purge(const struct stored_refresh *r, struct error *err);

#endif
