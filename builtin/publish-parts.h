/* SPDX-License-Identifier: MIT */
/* Declarations that the files of git publish share. */
#ifndef BUILTIN_PUBLISH_PARTS_H
#define BUILTIN_PUBLISH_PARTS_H

#include <stdint.h>

#include "publish/published.h"
#include "repo/repo.h"

/*
 * Bring the list of bundles up to date. If the list has all commits of branches
 * and tags, nothing is written. If commits are newer than the list, a bundle of
 * these commits is added. If there is no list, or the repository was repacked
 * since, a new first bundle is made. `now`: seconds since 1970. Returns 0 or a
 * negative error code. After an error, the old list is valid.
 */
int publish_bundles(const struct repo *repo,
		    const struct published_config *config, int64_t now,
		    struct error *err);

#endif
