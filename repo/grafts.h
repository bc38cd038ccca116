/* SPDX-License-Identifier: MIT */
/*
 * The file info/grafts (gitrepository-layout(5)) replaces the parents of
 * commits in old repositories, which have no replace refs:
 *
 * 	# a comment
 * 	<commit> <parent> <parent>
 *
 * Our walks ignore this file, but those of stock Git follow it. So the objects
 * that it names are kept: they may be the only way to a part of the history.
 */
#ifndef REPO_GRAFTS_H
#define REPO_GRAFTS_H

#include <stddef.h>

#include "base/error.h"
#include "object/oid.h"
#include "repo/repo.h"

/*
 * Visits every id in the bytes of such a file, as often as it occurs. All other
 * words are skipped: an id in a malformed line is kept as well. If fn() returns
 * a nonzero value, the visit stops and returns that value.
 */
int grafts_each(const char *bytes, size_t len, enum hash_algo algo,
		int (*fn)(void *ctx, const struct oid *oid), void *ctx);

/*
 * Works like grafts_each() for a repository's file, or the file that
 * GIT_GRAFT_FILE names. Returns 0 if there is no file, and ERR_IO or ERR_NOMEM
 * if the file cannot be read.
 */
int grafts_each_oid(const struct repo *repo,
		    int (*fn)(void *ctx, const struct oid *oid), void *ctx,
		    struct error *err);

#endif
