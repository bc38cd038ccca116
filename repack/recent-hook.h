/* SPDX-License-Identifier: MIT */
/*
 * Runs gc.recentObjectsHook: commands that print ids of objects to treat as
 * recent (git-config(1)).
 */
#ifndef REPACK_RECENT_HOOK_H
#define REPACK_RECENT_HOOK_H

#include "base/error.h"
#include "object/oid.h"
#include "repo/repo.h"

/*
 * Run each command with the shell. Call `fn` for each id that a command prints,
 * one id per line. Returns 0, ERR_INVALID if a command fails or prints anything
 * else, another negative error code, or the first nonzero value that `fn`
 * returns.
 */
int recent_hook_each(const struct repo *repo,
		     int (*fn)(void *ctx, const struct oid *oid), void *ctx,
		     struct error *err);

#endif
