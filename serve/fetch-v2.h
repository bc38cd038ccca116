/* SPDX-License-Identifier: MIT */
/* The fetch command of protocol v2. */
#ifndef SERVE_FETCH_V2_H
#define SERVE_FETCH_V2_H

#include "base/error.h"
#include "serve/v2.h"

/*
 * Read the arguments and answer with acknowledgments, the pack, or both. A
 * request without wants gets no answer at all, as from stock Git, unless it
 * says "wait-for-done" (git fetch --negotiate-only).
 */
int fetch_v2_run(struct session *s, struct v2_args *args, struct error *err);

#endif
