/* SPDX-License-Identifier: MIT */
/*
 * Removes loose objects that are also in a pack (git-prune-packed(1)).
 * Directories that become empty are removed too.
 */
#ifndef REPACK_PRUNE_PACKED_H
#define REPACK_PRUNE_PACKED_H

#include <stdbool.h>

#include "base/error.h"
#include "repo/repo.h"
#include "sys/progress.h"

struct prune_packed_options {
	/*
	 * Called with the path of each file before it is removed. NULL: no
	 * calls.
	 */
	void (*removing)(void *ctx, const char *path);
	void *ctx;
	/* Dry run: call `removing`, but remove no file. */
	bool dry_run;
	/* progress, counted in directories; NULL: none */
	const struct progress_out *progress;
};

/*
 * Remove the loose objects of `repo` that are also in a pack, here or in an
 * alternate. The packs are read from disk by this function.
 *
 * Every object keeps its latest time:
 *
 * - If only cruft packs have the object, a loose copy that is newer than the
 *   object's times in the .mtimes files stays.
 * - If an ordinary pack has the object, but is older than the loose file, the
 *   modification time of the pack is set to now. If this fails, the loose copy
 *   stays.
 *
 * Returns 0 or a negative error code.
 */
int prune_packed(const struct repo *repo,
		 const struct prune_packed_options *options, struct error *err);

#endif
