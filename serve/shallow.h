/* SPDX-License-Identifier: MIT */
/*
 * Moving a client's shallow boundary (gitprotocol-pack(5), "shallow-update";
 * the shallow-info section of gitprotocol-v2(5)).
 *
 * The pack is made for a history that is cut at the client's old boundary,
 * because it has nothing behind that, and at the new one. Where the boundary
 * moves back, the parents behind the old one become wants.
 */
#ifndef SERVE_SHALLOW_H
#define SERVE_SHALLOW_H

#include "base/error.h"
#include "serve/request.h"

/*
 * Compute the new boundary, write "shallow <id>" and "unshallow <id>" packets
 * to the session's output, and complete the request: wants, cut and edges.
 * With no cut asked for, only the repository's own boundary is told.
 * ERR_PEER when nothing is left of the history.
 */
int shallow_update(struct request *req, struct error *err);

/* Without an update: cut the pack's history where the client's ends. */
int shallow_keep(struct request *req, struct error *err);

/* Write the repository's own boundary, for an advertisement. */
int shallow_advertise(struct session *s, struct error *err);

/* Whether the repository is shallow itself: 1, 0 or negative. */
int shallow_is_repo(struct session *s, struct error *err);

#endif
