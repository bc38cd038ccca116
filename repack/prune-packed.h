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
 * No object gets an earlier latest time by this. If only cruft packs have the
 * object, and the loose copy is newer than the object's times in the .mtimes
 * files, the loose copy stays. If an ordinary pack has the object, but is older
 * than the loose file, the modification time of the pack is set to now; if this
 * fails, the loose copy stays. Returns 0 or a negative error code.
 */
int prune_packed(const struct repo *repo,
		 const struct prune_packed_options *options, struct error *err);

#endif
