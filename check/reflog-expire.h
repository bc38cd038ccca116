/* SPDX-License-Identifier: MIT */
/*
 * Expires lines of reflogs: git-reflog(1), "expire".
 *
 * There are two time limits. A line is dropped if it is older than the first
 * limit. A line is also dropped if it is older than the second limit and one of
 * its two commits is unreachable from the ref. For HEAD, the commit must be
 * unreachable from all refs. Ids of missing objects, or of objects that are not
 * commits, are a reason to drop a line only with stale_fix.
 *
 * For one thread. The repository's objects are opened only when they are first
 * needed to decide about a line.
 */
#ifndef CHECK_REFLOG_EXPIRE_H
#define CHECK_REFLOG_EXPIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "config/config.h"
#include "refs/reflog.h"
#include "repo/repo.h"

/* ---- limits: gc.reflogExpire and similar keys (reflog-limits.c) */

/*
 * Limits as times in seconds since 1970. Lines that are older than a limit are
 * dropped. `total` applies to all lines, `unreachable` to lines with
 * unreachable commits. 0: no line is dropped; INT64_MAX: all lines are dropped.
 */
struct reflog_limits {
	int64_t total, unreachable;
};

#define REFLOG_LIMIT_UNSET INT64_MIN

/*
 * Loads the limits of a ref from the configuration:
 * - If a key gc.<pattern>.reflogExpire or gc.<pattern>.reflogExpireUnreachable
 *   matches the ref, only the keys with the first matching pattern are used. A
 *   limit that these keys do not set is "never".
 * - Otherwise, both limits of refs/stash are "never".
 * - Otherwise, gc.reflogExpire and gc.reflogExpireUnreachable are used. Their
 *   defaults are 90 and 30 days.
 *
 * Returns 0, or ERR_INVALID with Git's message if a value is not a date.
 */
int reflog_limits_load(struct reflog_limits *out, const struct config *config,
		       const char *name, int64_t now, struct error *err);

/* ---- expiry */

struct reflog_expire_options {
	/*
	 * time limits; REFLOG_LIMIT_UNSET: take the limit from the
	 * configuration
	 */
	struct reflog_limits limits;
	/*
	 * true: also drop a line if one of its commits reaches a missing object
	 */
	bool stale_fix;
	bool dry_run, rewrite, update_ref;
	/*
	 * Receives each line of the reflog. Its field `drop` says whether the
	 * line is dropped. May be NULL.
	 */
	void (*report)(void *ctx, const struct reflog_line *line);
	void *ctx;
};

struct reflog_expire;

/*
 * Makes the state for expiring reflogs. Copies the options. Returns NULL if
 * memory runs out.
 */
struct reflog_expire *reflog_expire_new(
	const struct repo *repo, const struct reflog_expire_options *options);
void reflog_expire_free(struct reflog_expire *x);

/*
 * Checks that all refs name existing objects, as stock Git does for --stale-fix
 * before it looks at any reflog. Returns 0 or a negative error code
 * ("unable to parse object: <ref>").
 */
int reflog_expire_check_refs(struct reflog_expire *x, struct error *err);

/*
 * Drops the expired lines of one ref's reflog, by reflog_edit(). Returns 0 or a
 * negative error code.
 *
 * There are two limits (struct reflog_limits). A line that is older than
 * `total` is dropped in any case. A line that is older than `unreachable`, but
 * not older than `total`, is dropped only if one of its two commits is
 * unreachable. If the reflog has such lines, the cost is one walk over commits;
 * otherwise there is no walk. With a commit-graph, the walk ends at the lowest
 * generation number of the commits of these lines; otherwise it ends at the
 * root commits.
 */
int reflog_expire_run(struct reflog_expire *x, const char *name,
		      struct error *err);

#endif
