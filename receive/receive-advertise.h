/* SPDX-License-Identifier: MIT */
/* What a server says before a push: refs and capabilities, in v0 and v1. */
#ifndef RECEIVE_RECEIVE_ADVERTISE_H
#define RECEIVE_RECEIVE_ADVERTISE_H

#include "base/error.h"
#include "repo/repo.h"
#include "receive/receive.h"

/*
 * Write the visible refs, the capabilities behind the first, ids of refs
 * outside the namespace and of alternates as ".have" (each once, unless
 * something that was shown has it), the shallow boundary, and a flush. No
 * object is read. Cost: what is printed, and a search for each range of
 * hidden refs.
 */
int receive_advertise(struct receive *r, struct error *err);

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
