/* SPDX-License-Identifier: MIT */
/*
 * Moves the shallow boundary of a client (gitprotocol-pack(5),
 * "shallow-update"; the shallow-info section of gitprotocol-v2(5)).
 *
 * The walk that lists the objects of the pack stops at two boundaries. It stops
 * at the client's old boundary, because the client has no older commits. It
 * also stops at the new boundary. If the new boundary is older, the parents of
 * the commits on the old boundary become wants.
 */
#ifndef SERVE_SHALLOW_H
#define SERVE_SHALLOW_H

#include "base/error.h"
#include "serve/request.h"

/*
 * Computes the client's new boundary, and writes "shallow <id>" and "unshallow
 * <id>" packets. Fills req->shallow and req->edges, and adds new wants to
 * req->wants. The caller writes the packet that ends the section. If the
 * request has no depth limit, the new boundary is the repository's boundary,
 * and no "unshallow" is written. Returns 0, ERR_PEER if the depth limit
 * excludes all commits, or another negative error code.
 */
int shallow_update(struct request *req, struct error *err);

/*
 * Keeps the boundary of the client: adds client_shallow to req->shallow.
 * Returns 0 or a negative error code.
 */
int shallow_keep(struct request *req, struct error *err);

/*
 * Writes the shallow boundary of the repository into an advertisement. Returns
 * 0 or a negative error code.
 */
int shallow_advertise(struct session *s, struct error *err);

/*
 * Returns 1 if the served repository itself is shallow, 0 if not, or a negative
 * error code.
 */
int shallow_is_repo(struct session *s, struct error *err);

#endif
