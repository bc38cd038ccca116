/* SPDX-License-Identifier: MIT */
/*
 * The maximum age of lines in a ref's reflog: gc.reflogExpire and similar keys.
 */
#ifndef CHECK_REFLOG_LIMITS_H
#define CHECK_REFLOG_LIMITS_H

#include <stdint.h>

#include "base/error.h"
#include "config/config.h"

/*
 * Times in seconds since 1970; older lines are dropped. 0: no line is dropped;
 * INT64_MAX: all lines are.
 */
struct reflog_limits {
	int64_t total, unreachable;
};

#define REFLOG_LIMIT_UNSET INT64_MIN

/*
 * Loads gc.reflogExpire and gc.reflogExpireUnreachable for a ref. The first
 * matching gc.<pattern>.* counts; a key that this pattern does not set means
 * "never". By default, lines of refs/stash never expire, and those of other
 * refs after 90 and 30 days. Returns 0, or ERR_INVALID with Git's message if a
 * value is not a date.
 */
int reflog_limits_load(struct reflog_limits *out, const struct config *config,
		       const char *name, int64_t now, struct error *err);

#endif
