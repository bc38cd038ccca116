/* SPDX-License-Identifier: MIT */
/*
 * The file info/grafts gives commits other parents (gitrepository-layout(5)).
 * Old repositories use it instead of replace refs:
 *
 * 	# a comment
 * 	<commit> <parent> <parent>
 *
 * The walks of this program ignore the file, but the walks of stock Git follow
 * it. So all objects named in the file are kept, because stock Git may reach a
 * part of the history only through them.
 */
#ifndef REPO_GRAFTS_H
#define REPO_GRAFTS_H

#include <stddef.h>

#include "base/error.h"
#include "object/oid.h"
#include "repo/repo.h"

/*
 * Visits every id in the bytes of an info/grafts file, as often as it occurs.
 * All other words are skipped, so the ids in a malformed line are visited too.
 * If fn() returns a nonzero value, the visit stops and returns that value.
 */
int grafts_each(const char *bytes, size_t len, enum hash_algo algo,
		int (*fn)(void *ctx, const struct oid *oid), void *ctx);

/*
 * Works like grafts_each() for the file of a repository, or the file that
 * GIT_GRAFT_FILE names. Returns 0 also if there is no file, and ERR_IO or
 * ERR_NOMEM if the file cannot be read.
 */
int grafts_each_oid(const struct repo *repo,
		    int (*fn)(void *ctx, const struct oid *oid), void *ctx,
		    struct error *err);

#endif
