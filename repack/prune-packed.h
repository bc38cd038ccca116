/* SPDX-License-Identifier: MIT */
/*
 * Removing the loose objects of a repository that a pack has
 * (git-prune-packed(1)), and the directories that they leave empty.
 */
#ifndef REPACK_PRUNE_PACKED_H
#define REPACK_PRUNE_PACKED_H

#include <stdbool.h>

#include "base/error.h"
#include "repo/repo.h"
#include "sys/progress.h"

struct prune_packed_options {
	/* Called with the path of each file that goes; NULL: not wanted. */
	void (*removing)(void *ctx, const char *path);
	void *ctx;
	bool dry_run;                        /* that is all that is done */
	const struct progress_out *progress; /* counts directories, or NULL */
};

/*
 * Packs are those of the disk as it is now, alternates' too. No object gets
 * older by this. A loose object stays if only cruft packs have it, and all note
 * an earlier time than the file's. Another pack that is older than the file
 * gets the present time; if it cannot, the file stays. Returns 0 or a negative
 * error code.
 */
int prune_packed(const struct repo *repo,
		 const struct prune_packed_options *options, struct error *err);

#endif
