/* SPDX-License-Identifier: MIT */
/*
 * Removes loose objects that are also in a pack (git-prune-packed(1)), and the
 * directories that become empty.
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
	/* call `removing`, but remove nothing */
	bool dry_run;
	const struct progress_out
		*progress; /* counts directories; NULL: no progress */
};

/*
 * Remove the loose objects of `repo` that are in a pack. The packs are read
 * from disk now, those of alternates included.
 *
 * No object appears older afterwards. A loose object stays if only cruft packs
 * have it, and all of them note an earlier time than the file's. If another
 * pack is older than the loose file, the pack gets the present time. If the
 * pack's time cannot be changed, the loose object stays. Returns 0 or a
 * negative error code.
 */
int prune_packed(const struct repo *repo,
		 const struct prune_packed_options *options, struct error *err);

#endif
