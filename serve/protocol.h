/* SPDX-License-Identifier: MIT */
/*
 * The protocols of a fetch: what the server says first, and the requests that
 * follow.
 */
#ifndef SERVE_PROTOCOL_H
#define SERVE_PROTOCOL_H

#include "base/error.h"
#include "serve/session.h"

/* ---- advertise.c */

/*
 * Say what a server of v0 or v1 says first (gitprotocol-pack(5), "Reference
 * Discovery"). Write HEAD and all visible refs, tags with what they peel to,
 * the capabilities behind the first, and the repository's shallow boundary; for
 * v1 with "version 1" before. One pass over the refs.
 */
int advertise_refs(struct session *s, struct error *err);

/* Write the capabilities of protocol v2. Opens nothing. */
int advertise_v2(struct session *s, struct error *err);

/* ---- upload-pack-v0.c */

/*
 * Serve the one request of protocol v0 or v1. Returns 0 when the client got its
 * pack or wanted none, or negative.
 */
int upload_pack_v0_serve(struct session *s, struct error *err);

/* ---- v2.c */

/*
 * Serve one request of protocol v2 (gitprotocol-v2(5)). Returns 1 when it was
 * answered and another may follow, 0 when the client is done, or negative.
 */
int v2_serve(struct session *s, struct error *err);

#endif
