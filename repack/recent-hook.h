/* SPDX-License-Identifier: MIT */
/*
 * gc.recentObjectsHook: commands that name objects which are to be regarded as
 * in use now (git-config(1)).
 */
#ifndef REPACK_RECENT_HOOK_H
#define REPACK_RECENT_HOOK_H

#include "base/error.h"
#include "object/oid.h"
#include "repo/repo.h"

/*
 * Run each command with the shell, and call `fn` for each id that it prints,
 * one a line. 0; ERR_INVALID when a command fails or prints anything else, or
 * the first nonzero return of `fn`.
 */
int recent_hook_each(const struct repo *repo,
		     int (*fn)(void *ctx, const struct oid *oid), void *ctx,
		     struct error *err);

#endif
