/* SPDX-License-Identifier: MIT */
/*
 * The file info/grafts gives commits other parents (gitrepository-layout(5)).
 * Old repositories use it instead of replace refs:
 *
 *	# a comment
 *	<commit> <parent> <parent>
 *
 * This program uses these parents for one purpose: to resolve names such as
 * main~2. Its walks over the history ignore the file. Walks of stock Git follow
 * the file, and may reach a part of the history only through it. So all objects
 * that the file names are kept.
 */
#ifndef REPO_GRAFTS_H
#define REPO_GRAFTS_H

#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "object/oid.h"
#include "repo/repo.h"

/*
 * Visits every id in the bytes of an info/grafts file, as often as it occurs.
 * All other words are skipped, so the ids in a malformed line are visited too.
 * If fn() returns a nonzero value, the visit stops and returns this value.
 * Otherwise returns 0.
 */
int grafts_each(const char *bytes, size_t len, enum hash_algo algo,
		int (*fn)(void *ctx, const struct oid *oid), void *ctx);

/*
 * Finds the n-th parent (n >= 1) of a commit according to `bytes`, the content
 * of an info/grafts file. Lines with a malformed id are ignored. If several
 * lines are about the commit, the first one is used. Returns 1 if *parent is
 * set, 0 if the commit's line has fewer than n parents, or ERR_MISSING if the
 * commit has no line.
 */
int grafts_parent(struct oid *parent, const char *bytes, size_t len,
		  enum hash_algo algo, const struct oid *commit, size_t n);

/*
 * Appends the bytes of a repository's info/grafts file, or of the file that
 * GIT_GRAFT_FILE names. Returns 0 also if there is no file, and ERR_IO or
 * ERR_NOMEM if the file cannot be read.
 */
int grafts_read(struct buf *text, const struct repo *repo, struct error *err);

/*
 * Works like grafts_each() for the file of a repository, or the file that
 * GIT_GRAFT_FILE names. Returns 0 also if there is no file, and ERR_IO or
 * ERR_NOMEM if the file cannot be read.
 */
int grafts_each_oid(const struct repo *repo,
		    int (*fn)(void *ctx, const struct oid *oid), void *ctx,
		    struct error *err);

/*
 * Returns 1 if the repository's info/grafts file, or the file that
 * GIT_GRAFT_FILE names, contains an id. Returns 0 if not, ERR_IO or ERR_NOMEM.
 */
int grafts_exist(const struct repo *repo, struct error *err);

#endif
