/* SPDX-License-Identifier: MIT */
/*
 * Make the pack of a request and send it to the client. The pack is made in
 * this process, or by the command in uploadpack.packObjectsHook.
 */
#ifndef SERVE_SEND_H
#define SERVE_SEND_H

#include "base/error.h"
#include "serve/request.h"

/*
 * Make and send the pack and its progress. With a side band, a flush packet
 * follows. If the pack fails, the client gets a message on band 3. Returns 0 or
 * a negative error code.
 */
int send_pack(struct request *req, struct error *err);

/*
 * Protocol v2: write the section "packfile-uris", if the client accepts URIs
 * and blobs were left out, then the section "packfile" with the pack. If URIs
 * may be sent, no progress goes out until the objects are found. Returns 0 or a
 * negative error code.
 */
int send_pack_section(struct request *req, struct error *err);

#endif
