/* SPDX-License-Identifier: MIT */
/*
 * What the repositories have whose objects we borrow: the tips that a pusher
 * need not send (".have" lines).
 */
#ifndef RECEIVE_RECEIVE_HAVES_H
#define RECEIVE_RECEIVE_HAVES_H

#include "base/error.h"
#include "repo/repo.h"

/*
 * Call `fn` with the id of each ref of each alternate repository, or with
 * what core.alternateRefsCommand prints for it; core.alternateRefsPrefixes
 * limits the refs. Ids may come more than once. An alternate that is no
 * repository, or whose refs or command fail, has none, and is described in
 * *warning. A nonzero return of `fn` stops and is returned.
 */
int receive_haves_each(const struct repo *repo,
		       int (*fn)(void *ctx, const struct oid *oid), void *ctx,
		       struct error *warning, struct error *err);

#endif
