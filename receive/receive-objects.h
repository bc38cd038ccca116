/* SPDX-License-Identifier: MIT */
/*
 * Takes the objects of a push. Reads the pack from the connection, and indexes
 * and checks the objects. Stores the objects in the quarantine, as a pack or as
 * loose objects.
 */
#ifndef RECEIVE_RECEIVE_OBJECTS_H
#define RECEIVE_RECEIVE_OBJECTS_H

#include <stdbool.h>

#include "base/error.h"
#include "object/oid.h"
#include "indexer/indexer.h"
#include "receive/receive.h"

/*
 * Callbacks for indexing a pack if clients may know only of reachable objects
 * (is_limit). If the client is not allowed to know of a delta base, the base
 * counts as missing.
 */
struct receive_seen_only {
	/* the callbacks without the restriction to reachable objects */
	struct pack_indexer_hooks all;
	struct receive *r; /* borrowed */
};

/*
 * The objects of a push. The address of this struct must not change, because
 * the indexer has pointers into it.
 */
struct receive_objects {
	/* owned: the objects that existed before the push */
	struct known_objects *known;
	struct pack_indexer *ix; /* owned */
	/* the callbacks and the progress meter that `ix` uses */
	struct receive_seen_only seen;
	struct progress_out progress;
	struct pack_indexer_result result;
};

/*
 * Create the quarantine and store the objects that the client sends. If the
 * pack has fewer objects than r->config.unpack_limit, they are stored as loose
 * objects. An empty pack is not stored.
 *
 * Returns 0 or a negative error code with a message for the client. Errors are:
 * corrupt objects, missing delta bases, an object with the id of a different
 * object, a pack longer than receive.maxInputSize, a client that went away. The
 * caller releases *o in all cases.
 */
int receive_objects_take(struct receive_objects *o, struct receive *r,
			 struct error *err);
void receive_objects_release(struct receive_objects *o);

/* Returns true if an object came with this push. Cost: O(log n). */
bool receive_objects_has(const struct receive_objects *o, enum hash_algo algo,
			 const struct oid *oid);

/*
 * Check the values of receive.fsck.<msg-id> before the client sends commands.
 * For each unknown <msg-id>, a warning goes to options->tell. Returns 0,
 * ERR_INVALID if a value is invalid, or ERR_NOMEM. A skip list that cannot be
 * read is no error here.
 */
int receive_fsck_check_config(struct receive *r, struct error *err);

/*
 * Check the format of all objects of the push, and the content of the
 * .gitmodules and .gitattributes files in their trees. The configuration
 * decides what is checked: receive.fsckObjects, transfer.fsckObjects,
 * receive.fsck.*. Each finding is sent to the client.
 *
 * Returns 0 if no finding is an error, ERR_CORRUPT if one is, or another
 * negative error code.
 */
int receive_fsck(struct receive *r, const struct receive_objects *objects,
		 struct error *err);

#endif
