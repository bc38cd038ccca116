/* SPDX-License-Identifier: MIT */
/* The protocols of a fetch, behind the advertisement, which is the caller's. */
#ifndef SERVE_PROTOCOL_H
#define SERVE_PROTOCOL_H

#include "base/error.h"
#include "serve/session.h"

/*
 * Serve the one request of protocol v0 or v1. Returns 0 when the client got its
 * pack or wanted none, or negative.
 */
int upload_pack_v0_serve(struct session *s, struct error *err);

/*
 * Serve one request of protocol v2 (gitprotocol-v2(5)). Returns 1 when it was
 * answered and another may follow, 0 when the client is done, or negative.
 */
int v2_serve(struct session *s, struct error *err);

#endif
