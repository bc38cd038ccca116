/* SPDX-License-Identifier: MIT */
/* How old the lines of a ref's reflog may become: gc.reflogExpire and its like.
 */
#ifndef CHECK_REFLOG_LIMITS_H
#define CHECK_REFLOG_LIMITS_H

#include <stdint.h>

#include "base/error.h"
#include "config/config.h"

/* Seconds since 1970; 0: no line is that old, INT64_MAX: all are. */
struct reflog_limits {
	int64_t total, unreachable;
};

#define REFLOG_LIMIT_UNSET INT64_MIN

/*
 * gc.reflogExpire and gc.reflogExpireUnreachable as they are for a ref: of the
 * first gc.<pattern>.* that matches its name, of which one that is not set is
 * "never"; refs/stash has never by default, others 90 and 30 days. ERR_INVALID
 * in Git's words for what is no date.
 */
int reflog_limits_load(struct reflog_limits *out, const struct config *config,
		       const char *name, int64_t now, struct error *err);

#endif
