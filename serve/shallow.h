/* SPDX-License-Identifier: MIT */
/*
 * Moving a client's shallow boundary (gitprotocol-pack(5), "shallow-update";
 * the shallow-info section of gitprotocol-v2(5)).
 *
 * The walk that makes the pack stops at two boundaries: the client's old one,
 * because the client has no older commits, and the new one. If the new boundary
 * is older, the parents of the old boundary's commits become wants.
 */
#ifndef SERVE_SHALLOW_H
#define SERVE_SHALLOW_H

#include "base/error.h"
#include "serve/request.h"

/*
 * Compute the new boundary, write "shallow <id>" and "unshallow <id>" packets,
 * and fill the request's wants, shallow and edges. The caller ends the section.
 * If the request has no depth limit, the new boundary is the repository's own,
 * and no "unshallow" is written. Returns 0, ERR_PEER if the limit excludes all
 * commits, or another negative error code.
 */
int shallow_update(struct request *req, struct error *err);

/*
 * Keep the client's boundary: add client_shallow to the request's `shallow`.
 * Returns 0 or a negative error code.
 */
int shallow_keep(struct request *req, struct error *err);

/*
 * Write the repository's own boundary into an advertisement. Returns 0 or a
 * negative error code.
 */
int shallow_advertise(struct session *s, struct error *err);

/*
 * Returns 1 if the served repository itself is shallow, 0 if not, or a negative
 * error code.
 */
int shallow_is_repo(struct session *s, struct error *err);

#endif
