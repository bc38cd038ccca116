/* SPDX-License-Identifier: MIT */
/* Declarations that the files of git publish share. */
#ifndef BUILTIN_PUBLISH_PARTS_H
#define BUILTIN_PUBLISH_PARTS_H

#include <stdint.h>

#include "publish/published.h"
#include "repo/repo.h"

/*
 * Bring the list of bundles up to date. Does one of these:
 * - If there are no branches and tags, removes the list.
 * - If there is no list, or if it is outdated, makes a new list. The list is
 *   outdated if one of its bundles cannot be read, or if a repack or a change
 *   of uploadpack.hideRefs came later than the list.
 * - If the bundles lack commits of branches or tags, adds a bundle of these
 *   commits to the list.
 * - Otherwise writes nothing.
 *
 * `now`: seconds since 1970. Returns 0 or a negative error code. After an
 * error, the old list is valid.
 */
int publish_bundles(const struct repo *repo,
		    const struct published_config *config, int64_t now,
		    struct error *err);

#endif
