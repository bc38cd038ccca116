/* SPDX-License-Identifier: MIT */
/* Serving a fetch in protocol v0 or v1. */
#ifndef SERVE_UPLOAD_PACK_V0_H
#define SERVE_UPLOAD_PACK_V0_H

#include "base/error.h"
#include "serve/session.h"

/*
 * Serve the request that follows an advertisement (which is the caller's).
 * Returns 0 when the client got its pack or wanted none, or negative.
 */
int upload_pack_v0_serve(struct session *s, struct error *err);

#endif
