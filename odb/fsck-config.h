/* SPDX-License-Identifier: MIT */
/*
 * The configuration of fsck's rules: fsck.<msg-id> and fsck.skipList, and the
 * same variables with the prefixes receive.fsck. and fetch.fsck. Commands pass
 * these rules on as lists "<msg-id>=<severity>,...".
 */
#ifndef ODB_FSCK_CONFIG_H
#define ODB_FSCK_CONFIG_H

#include "object/fsck.h"
#include "repo/repo.h"

/*
 * Applies the variables below `prefix`, e.g. "fsck." or "receive.fsck."
 * (git-receive-pack(1)). `warn` receives the name of each unknown message in
 * lower case; the caller prints "skipping unknown msg id '<name>'". If `warn`
 * is NULL, an unknown message is an error (ERR_INVALID).
 *
 * Returns 0, ERR_INVALID if a value is invalid, ERR_IO if a skip list cannot be
 * read, or ERR_NOMEM.
 */
int fsck_config_load(struct fsck_rules *rules, const struct repo *repo,
		     const char *prefix,
		     void (*warn)(void *ctx, const char *name), void *ctx,
		     struct error *err);

/*
 * Applies a list of items "<msg-id>=<severity>", which are separated by blanks,
 * commas or "|". An item may also be "skiplist=<path>". Returns 0, ERR_INVALID
 * if an item is invalid or a message is unknown, ERR_IO if a skip list cannot
 * be read, or ERR_NOMEM.
 */
int fsck_config_list(struct fsck_rules *rules, const char *list,
		     struct error *err);

/*
 * Reads a file of ids, and adds these ids to the skip list. A line has one id
 * in hexadecimal digits, and "#" starts a comment. Returns 0, ERR_IO ("could
 * not open object name list: <path>"), ERR_INVALID ("invalid object name:
 * <line>"), or ERR_NOMEM.
 */
int fsck_config_skip_list(struct fsck_rules *rules, const char *path,
			  struct error *err);

#endif
