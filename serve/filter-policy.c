/* SPDX-License-Identifier: MIT */
/* Checks which filters of clients the configuration allows. */
#include <inttypes.h>
#include <stdio.h>

#include "serve/request.h"

#define TREE_DEPTH "uploadpackfilter.tree.maxdepth"

/*
 * Checks whether clients may use one kind of filter.
 * uploadpackfilter.<kind>.allow overrides uploadpackfilter.allow.
 */
static int check_kind(const struct config *config, enum filter_kind kind,
		      struct error *err)
{
	bool allowed = true;
	char key[64];
	int ret = config_bool(config, "uploadpackfilter.allow", &allowed, err);

	if (ret >= 0 && kind == FILTER_TREE && config_find(config, TREE_DEPTH))
		allowed = true;
	snprintf(key, sizeof(key), "uploadpackfilter.%s.allow",
		 filter_kind_name(kind));
	if (ret >= 0)
		ret = config_bool(config, key, &allowed, err);
	if (ret < 0 || allowed)
		return ret < 0 ? ret : 0;
	return error_set(err, ERR_PEER, "filter '%s' not supported",
			 filter_kind_name(kind));
}

static int check_depth(const struct config *config, uint64_t depth,
		       struct error *err)
{
	uint64_t max = UINT64_MAX;
	int ret = config_u64(config, TREE_DEPTH, &max, err);

	if (ret < 0 || depth <= max)
		return ret < 0 ? ret : 0;
	return error_set(err, ERR_PEER,
			 "tree filter allows max depth %" PRIu64
			 ", but got %" PRIu64,
			 max, depth);
}

int filter_policy_check(const struct config *config,
			const struct filter *filter, struct error *err)
{
	int ret = 0;

	if (filter->is_combined)
		ret = check_kind(config, FILTER_COMBINE, err);
	for (size_t i = 0; i < filter->nr && !ret; i++) {
		const struct filter_part *part = &filter->parts[i];

		ret = check_kind(config, part->kind, err);
		if (!ret && part->kind == FILTER_TREE)
			ret = check_depth(config, part->number, err);
	}
	return ret;
}
