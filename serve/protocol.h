/* SPDX-License-Identifier: MIT */
/*
 * The protocols of a fetch: the advertisement, which the server sends first,
 * and the requests of the client.
 */
#ifndef SERVE_PROTOCOL_H
#define SERVE_PROTOCOL_H

#include "base/error.h"
#include "serve/session.h"

/* ---- advertise.c */

/*
 * Writes the advertisement of protocol v0 or v1 (gitprotocol-pack(5),
 * "Reference Discovery"): HEAD, all visible refs with peeled tags, and the
 * shallow boundary of the repository. The first line also has the capabilities.
 * In v1, the line "version 1" is written first. Cost: one pass over the refs.
 * Returns 0 or a negative error code.
 */
int advertise_refs(struct session *s, struct error *err);

/*
 * Writes the capabilities of protocol v2. Opens neither refs nor objects.
 * Returns 0 or a negative error code.
 */
int advertise_v2(struct session *s, struct error *err);

/* ---- upload-pack-v0.c */

/*
 * Serves the single request of protocol v0 or v1. Returns 0 if the pack was
 * sent, if the client wanted nothing, or if a stateless round was answered;
 * else a negative error code.
 */
int upload_pack_v0_serve(struct session *s, struct error *err);

/* ---- v2.c */

/*
 * Serves one request of protocol v2 (gitprotocol-v2(5)). Returns 1 if the
 * request was answered (another may follow), 0 if the client has no further
 * request, or a negative error code.
 */
int v2_serve(struct session *s, struct error *err);

#endif
