/* SPDX-License-Identifier: MIT */
/* Declarations for the files of `git publish`. */
#ifndef BUILTIN_PUBLISH_PARTS_H
#define BUILTIN_PUBLISH_PARTS_H

#include <stdint.h>

#include "publish/published.h"
#include "repo/repo.h"

/*
 * Bring the list of bundles up to date: make a new first bundle if there is no
 * list, or if the repository was repacked since; otherwise add a bundle of the
 * commits that are newer than the list, if there are any. `now`: seconds since
 * 1970. Returns 0 or a negative error code. After an error, the old list is
 * valid.
 */
int publish_bundles(const struct repo *repo,
		    const struct published_config *config, int64_t now,
		    struct error *err);

#endif
