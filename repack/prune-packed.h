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
 * Packs are those of the disk as it is now, alternates' too. An object that
 * only a cruft pack has stays while its file is newer than that pack: the
 * file's time is what keeps the object. 0 or a negative error.
 */
int prune_packed(const struct repo *repo,
		 const struct prune_packed_options *options, struct error *err);

#endif
