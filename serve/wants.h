/* SPDX-License-Identifier: MIT */
/*
 * Which objects a v0/v1 client may ask for: what visible refs name; more with
 * uploadpack.allowTipSHA1InWant (hidden refs too), allowReachableSHA1InWant
 * (what any ref reaches, hidden or not) and allowAnySHA1InWant. Without a
 * connection that was there when the refs were advertised (--stateless-rpc),
 * what is reachable from visible refs is given too, because they may have
 * moved since.
 */
#ifndef SERVE_WANTS_H
#define SERVE_WANTS_H

#include "base/error.h"
#include "serve/request.h"

/*
 * Check all wants of a request. 0, ERR_PEER naming one that is refused
 * (request_not_our_ref()), or another error. Costs a look at every visible
 * ref; a history walk when reachability has to decide, and a walk over all
 * objects when it has to for anything but commits.
 */
int wants_check(struct request *req, struct error *err);

#endif
