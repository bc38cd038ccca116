/* SPDX-License-Identifier: MIT */
/*
 * Which filters clients may ask for: uploadpackfilter.allow,
 * uploadpackfilter.<filter>.allow, uploadpackfilter.tree.maxDepth.
 */
#ifndef SERVE_FILTER_POLICY_H
#define SERVE_FILTER_POLICY_H

#include "base/error.h"
#include "config/config.h"
#include "walk/filter.h"

/*
 * 0, ERR_PEER in stock Git's words for a filter that is not allowed, or
 * ERR_INVALID for a value that cannot be parsed. Every part has to be allowed,
 * and combining them too.
 */
int filter_policy_check(const struct config *config,
			const struct filter *filter, struct error *err);

#endif
