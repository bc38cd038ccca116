/* SPDX-License-Identifier: MIT */
/*
 * Which objects a v0/v1 client may want:
 *
 *	always                        objects that visible refs name
 *	allowTipSHA1InWant            objects that hidden refs name
 *	allowReachableSHA1InWant      objects that any ref reaches
 *	allowAnySHA1InWant            any object
 *	--stateless-rpc               objects that visible refs reach
 *
 * The names are keys of the section uploadpack, except the last. A stateless
 * request comes on a new connection, and refs may have moved since the
 * advertisement; so reachable objects are allowed.
 */
#ifndef SERVE_WANTS_H
#define SERVE_WANTS_H

#include "base/error.h"
#include "serve/request.h"

/*
 * Check all wants of a request. Returns 0 if all are allowed, ERR_PEER with the
 * message of request_not_our_ref() if one is refused, or another negative error
 * code. Cost: a pass over the visible refs; if a want is not a tip, a history
 * walk; if such a want is not a commit, a walk over all objects.
 */
int wants_check(struct request *req, struct error *err);

#endif
