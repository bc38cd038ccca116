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

/* Milliseconds for which prune_packed() waits for the lock of the packs. */
#define PRUNE_PACKED_LOCK_MS 1000

struct prune_packed_options {
	/*
	 * Called with the path of each file before it is removed. NULL: no
	 * calls.
	 */
	void (*removing)(void *ctx, const char *path);
	/*
	 * Called with a message of one line if loose objects are left because
	 * another process has the lock of the packs. NULL: no call.
	 */
	void (*warn)(void *ctx, const char *message);
	void *ctx; /* argument of the callbacks */
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
 * A packed copy does not count if its delta chain does not end
 * (pack_chain_ends()): the loose copy may be the only one that can be read.
 *
 * The function holds the lock of the pack directory (sys/dirlock.h). About ten
 * times in each second, it leaves the lock to other processes for a moment. If
 * another process then keeps the lock for PRUNE_PACKED_LOCK_MS, the function
 * calls options->warn, removes no more loose objects, and returns 0. The next
 * call can remove the remaining ones, which do no harm until then.
 *
 * Returns 0 or a negative error code.
 */
int prune_packed(const struct repo *repo,
		 const struct prune_packed_options *options, struct error *err);

#endif
