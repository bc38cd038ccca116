/* SPDX-License-Identifier: MIT */
/*
 * The advertisement before a push: a list of refs and capabilities, in protocol
 * versions 0 and 1.
 */
#ifndef RECEIVE_RECEIVE_ADVERTISE_H
#define RECEIVE_RECEIVE_ADVERTISE_H

#include "base/error.h"
#include "repo/repo.h"
#include "receive/receive.h"

/*
 * Write the advertisement to r->peer.out, in this order:
 *
 *	visible refs               the first line also has the capabilities
 *	".have" lines              ids of refs outside the namespace, and of
 *	                           refs of alternates
 *	shallow boundary, flush
 *
 * An id is written only once: there is no ".have" line for the id of a visible
 * ref. No object is read. Cost: the lines that are written, and one search for
 * each range of hidden refs. Returns 0 or a negative error code.
 */
int receive_advertise(struct receive *r, struct error *err);

/*
 * Call `fn` with the object id of each ref of each repository from which `repo`
 * borrows (objects/info/alternates). core.alternateRefsPrefixes limits the
 * refs. If core.alternateRefsCommand is set, the command prints the ids
 * instead. `fn` may get an id more than once.
 *
 * An alternate is skipped, and described in *warning, if the alternate cannot
 * be opened as a repository or if the command fails.
 *
 * Returns 0, the first value of `fn` that is not 0, or a negative error code.
 */
int receive_haves_each(const struct repo *repo,
		       int (*fn)(void *ctx, const struct oid *oid), void *ctx,
		       struct error *warning, struct error *err);

#endif
