/* SPDX-License-Identifier: MIT */
/*
 * What a server says first: the refs and capabilities of v0 and v1
 * (gitprotocol-pack(5), "Reference Discovery"), the capabilities of v2.
 */
#ifndef SERVE_ADVERTISE_H
#define SERVE_ADVERTISE_H

#include "base/error.h"
#include "serve/session.h"

/*
 * Write HEAD and all visible refs, tags with what they peel to, the
 * capabilities behind the first, and the repository's shallow boundary; for
 * v1 with "version 1" before. One pass over the refs.
 */
int advertise_refs(struct session *s, struct error *err);

/* Write the capabilities of protocol v2. Opens nothing. */
int advertise_v2(struct session *s, struct error *err);

#endif
