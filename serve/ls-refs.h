/* SPDX-License-Identifier: MIT */
/* The ls-refs command of protocol v2. */
#ifndef SERVE_LS_REFS_H
#define SERVE_LS_REFS_H

#include "base/error.h"
#include "serve/v2.h"

/*
 * Read the arguments and list the visible refs they ask for, in the order of
 * their names, HEAD first. Only the ranges of refs that a ref-prefix names are
 * looked at.
 */
int ls_refs_run(struct session *s, struct v2_args *args, struct error *err);

#endif
