/* SPDX-License-Identifier: MIT */
/*
 * Whether the objects of a push are well-formed (receive.fsckObjects,
 * transfer.fsckObjects, receive.fsck.*).
 */
#ifndef RECEIVE_RECEIVE_FSCK_H
#define RECEIVE_RECEIVE_FSCK_H

#include "base/error.h"
#include "receive/receive-objects.h"
#include "receive/receive.h"

/*
 * Check every object that came, and the .gitmodules and .gitattributes among
 * them or that their trees name, in the quarantine. What is wrong is told to
 * the pusher, a line for each message. 0; ERR_CORRUPT when there were errors;
 * or another error. Does nothing unless the configuration asks for it.
 */
int receive_fsck(struct receive *r, const struct receive_objects *objects,
		 struct error *err);

#endif
