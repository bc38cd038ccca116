/* SPDX-License-Identifier: MIT */
/*
 * How a repository wants fsck's rules: fsck.<msg-id> and fsck.skipList,
 * receive.fsck.* and fetch.fsck.* likewise, and the lists of the form
 * "<msg-id>=<severity>,..." in which commands pass them on.
 */
#ifndef ODB_FSCK_CONFIG_H
#define ODB_FSCK_CONFIG_H

#include "object/fsck.h"
#include "repo/repo.h"

/*
 * Apply the variables below `prefix` ("fsck." or, for git-receive-pack(1),
 * "receive.fsck."). An unknown message is ERR_INVALID when `warn` is NULL,
 * else warn() gets its name as it is in the configuration, in lower case
 * ("skipping unknown msg id '<name>'" is the caller's to say). ERR_INVALID for
 * other values that are wrong, ERR_IO for a skip list that cannot be read.
 */
int fsck_config_load(struct fsck_rules *rules, const struct repo *repo,
		     const char *prefix,
		     void (*warn)(void *ctx, const char *name), void *ctx,
		     struct error *err);

/*
 * Apply "<msg-id>=<severity>" items that blanks, commas or bars separate;
 * "skiplist=<path>" is one too. As fsck_config_load().
 */
int fsck_config_list(struct fsck_rules *rules, const char *list,
		     struct error *err);

/*
 * Skip the objects that a file lists: an id in hexadecimal digits a line, "#"
 * starts a comment. 0, ERR_IO ("could not open object name list: <path>"), or
 * ERR_INVALID ("invalid object name: <line>").
 */
int fsck_config_skip_list(struct fsck_rules *rules, const char *path,
			  struct error *err);

#endif
