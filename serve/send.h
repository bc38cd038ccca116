/* SPDX-License-Identifier: MIT */
/*
 * The pack of a request, on its way to the client: made in this process, or
 * by uploadpack.packObjectsHook where a protected configuration names one.
 */
#ifndef SERVE_SEND_H
#define SERVE_SEND_H

#include "base/error.h"
#include "serve/request.h"

/*
 * Make and send the pack, with progress, and the flush packet that ends a
 * multiplexed one. When the pack fails after the client was promised one, it
 * is told on band 3 and the error returned.
 */
int send_pack(struct request *req, struct error *err);

/*
 * The same for protocol v2: the pack with the sections that belong to it,
 * "packfile-uris" for a client that takes URIs, and "packfile". While URIs are
 * to be told, nothing is said until the objects have been found.
 */
int send_pack_section(struct request *req, struct error *err);

#endif
