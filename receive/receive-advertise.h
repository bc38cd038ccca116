/* SPDX-License-Identifier: MIT */
/* What a server says before a push: refs and capabilities, in v0 and v1. */
#ifndef RECEIVE_RECEIVE_ADVERTISE_H
#define RECEIVE_RECEIVE_ADVERTISE_H

#include "base/error.h"
#include "receive/receive.h"

/*
 * Write the visible refs, the capabilities behind the first, ids of refs
 * outside the namespace and of alternates as ".have" (each once, unless
 * something that was shown has it), the shallow boundary, and a flush. No
 * object is read. Cost: what is printed, and a search for each range of
 * hidden refs.
 */
int receive_advertise(struct receive *r, struct error *err);

#endif
