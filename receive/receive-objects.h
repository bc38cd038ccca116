/* SPDX-License-Identifier: MIT */
/*
 * The pack of a push: taken from the connection into the quarantine, indexed
 * and checked, kept or taken apart into loose objects.
 */
#ifndef RECEIVE_RECEIVE_OBJECTS_H
#define RECEIVE_RECEIVE_OBJECTS_H

#include <stdbool.h>

#include "base/error.h"
#include "object/oid.h"
#include "pack/indexer.h"
#include "receive/receive.h"

/* What came. */
struct receive_objects {
	struct known_objects *known; /* owned: what was there before */
	struct pack_indexer *ix;     /* owned */
	struct pack_indexer_result result;
};

/*
 * Create the quarantine and fill it from the connection. Release in any case.
 * 0, or negative with the reason in words for the pusher: objects that are
 * broken, incomplete or collide with others, a pack longer than
 * receive.maxInputSize, a peer that went away. An empty pack is none.
 */
int receive_objects_take(struct receive_objects *o, struct receive *r,
			 struct error *err);
void receive_objects_release(struct receive_objects *o);

/* Whether an object came with this push. O(log n). */
bool receive_objects_has(const struct receive_objects *o, enum hash_algo algo,
			 const struct oid *oid);

/*
 * Check every object that came, and the .gitmodules and .gitattributes among
 * them or that their trees name, in the quarantine. What is wrong is told to
 * the pusher, a line for each message. 0; ERR_CORRUPT when there were errors;
 * or another error. Does nothing unless the configuration asks for it.
 */
int receive_fsck(struct receive *r, const struct receive_objects *objects,
		 struct error *err);

#endif
