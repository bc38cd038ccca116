/* SPDX-License-Identifier: MIT */
/*
 * The shallow boundary of a repository. The file "shallow" in the common
 * directory lists the commits whose parents are absent, one id per line
 * (gitrepository-layout(5)).
 */
#ifndef REPO_SHALLOW_H
#define REPO_SHALLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "object/oid.h"
#include "repo/repo.h"

/*
 * Calls `fn` for each id in the file "shallow", in order. If `fn` returns a
 * nonzero value, the visit stops and returns that value. Returns 0 if there is
 * no file, or ERR_CORRUPT if a line is not an id.
 */
int repo_shallow_each(const struct repo *repo,
		      int (*fn)(void *ctx, const struct oid *oid), void *ctx,
		      struct error *err);

/*
 * Returns 1 if the file "shallow" lists the commit, 0 if not, or a negative
 * error code.
 */
int repo_shallow_has(const struct repo *repo, const struct oid *oid,
		     struct error *err);

/*
 * Adds ids to the file "shallow", and rewrites the file under its lock
 * ("shallow.lock"). Ids that the file has already are not repeated. Returns 0,
 * ERR_DENIED if another process holds the lock, or another negative error code.
 */
int repo_shallow_add(const struct repo *repo, const struct oid *oids, size_t nr,
		     struct error *err);

/*
 * The attributes of the file "shallow" at one moment. Each writer replaces the
 * file by a new one, so a file with the same attributes is unchanged.
 */
struct repo_shallow_stamp {
	bool exists;
	uint64_t dev, ino, size;
	int64_t mtime_ns; /* nanoseconds since 1970 */
};

/*
 * Fills *stamp with the present attributes of the file. A missing file is no
 * error. Returns 0 or a negative error code.
 */
int repo_shallow_stamp_take(struct repo_shallow_stamp *stamp,
			    const struct repo *repo, struct error *err);

/*
 * Removes from the file "shallow" all ids for which `keeps` returns false. If
 * no id is left, the file is removed. If all ids stay, the file is neither
 * locked nor written.
 *
 * `keeps` decides by the refs. `since` is a stamp of the file that the caller
 * took before it read these refs. If another process has replaced the file
 * since then, nothing is removed. The reason: the other process may be about to
 * make a ref that needs the ids of the new file.
 *
 * Returns 0, ERR_DENIED if another process holds the lock, or another negative
 * error code.
 */
int repo_shallow_retain(const struct repo *repo,
			const struct repo_shallow_stamp *since,
			bool (*keeps)(void *ctx, const struct oid *oid),
			void *ctx, struct error *err);

#endif
