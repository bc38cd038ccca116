/* SPDX-License-Identifier: MIT */
/*
 * Which lines of reflogs have had their time: git-reflog(1), "expire".
 *
 * A line goes when it is older than one limit, or older than another and one
 * of its two commits is not reachable from what the ref names now; for HEAD,
 * from any ref. What the log says of things that are no commits, or gone, is
 * no reason to remove it, but with stale_fix.
 *
 * One thread. Opens the repository's objects when it is asked about the first
 * line for which they matter.
 */
#ifndef CHECK_REFLOG_EXPIRE_H
#define CHECK_REFLOG_EXPIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "check/reflog-limits.h"
#include "refs/reflog.h"
#include "repo/repo.h"

struct reflog_expire_options {
	struct reflog_limits limits; /* REFLOG_LIMIT_UNSET: as configured */
	bool stale_fix; /* lines go whose commits are not all there */
	bool dry_run, rewrite, update_ref;
	/* Told of each line; NULL: nobody is. */
	void (*told)(void *ctx, const struct reflog_line *line);
	void *ctx;
};

struct reflog_expire;

/* Options are copied. NULL when out of memory. */
struct reflog_expire *reflog_expire_new(
	const struct repo *repo, const struct reflog_expire_options *options);
void reflog_expire_free(struct reflog_expire *x);

/*
 * Expire the reflog of one ref, see reflog_edit(). Cost: a walk from the tip,
 * down to the lowest commit of the log where a commit-graph tells levels, to
 * the root else, once for each ref that has lines between the limits.
 */
int reflog_expire_run(struct reflog_expire *x, const char *name,
		      struct error *err);

#endif
