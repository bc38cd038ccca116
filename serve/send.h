/* SPDX-License-Identifier: MIT */
/*
 * Makes the pack of a request and sends it to the client. The pack is made in
 * this process, or by the command in uploadpack.packObjectsHook.
 */
#ifndef SERVE_SEND_H
#define SERVE_SEND_H

#include "base/error.h"
#include "serve/request.h"
#include "wire/sideband.h"

/*
 * Makes and sends the pack and its progress. With a side band, a flush packet
 * follows. If the pack cannot be made, the client gets a message on band 3.
 * Returns 0 or a negative error code.
 */
int send_pack(struct request *req, struct error *err);

/*
 * Protocol v2: writes the section "packfile" with the pack. Returns 0 or a
 * negative error code.
 *
 * If the client accepts URIs, blobs or a published pack may be left out of the
 * pack. The section "packfile-uris" then comes before the section "packfile".
 * The section "packfile-uris" is written when the server has found all objects
 * to send. Progress can be sent only inside the section "packfile", so progress
 * of the search for objects is dropped.
 */
int send_pack_section(struct request *req, struct error *err);

/*
 * ---- hook.c
 *
 * uploadpack.packObjectsHook: a shell command of the operator that makes the
 * pack. The hook gets the arguments and the input that `git pack-objects`
 * would get.
 */

/*
 * Runs the configured hook for a request, and sends the hook's output as pack
 * data. The configuration must name a hook. The hook runs in the working
 * directory and with the environment of this process, and GIT_DIR is set. The
 * hook writes to this process's standard error. Returns 0, ERR_IO if the hook
 * cannot be started or fails, or the error of writing to `sb`.
 */
int hook_pack_objects(struct request *req, struct sideband *sb,
		      struct error *err);

#endif
