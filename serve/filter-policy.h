/* SPDX-License-Identifier: MIT */
/*
 * Which object filters the server accepts from clients. The configuration keys
 * are uploadpackfilter.allow, uploadpackfilter.<filter>.allow and
 * uploadpackfilter.tree.maxDepth.
 */
#ifndef SERVE_FILTER_POLICY_H
#define SERVE_FILTER_POLICY_H

#include "base/error.h"
#include "config/config.h"
#include "walk/filter.h"

/*
 * Check a client's filter. Each part of a combined filter must be allowed, and
 * so must the kind "combine". Returns 0 if the filter is allowed, ERR_PEER with
 * stock Git's message if it is not, or ERR_INVALID if a configured value cannot
 * be parsed.
 */
int filter_policy_check(const struct config *config,
			const struct filter *filter, struct error *err);

#endif
