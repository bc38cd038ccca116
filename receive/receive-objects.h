/* SPDX-License-Identifier: MIT */
/*
 * The pack of a push: read the pack from the connection, index and check it,
 * and store it in the quarantine, as a pack or as loose objects.
 */
#ifndef RECEIVE_RECEIVE_OBJECTS_H
#define RECEIVE_RECEIVE_OBJECTS_H

#include <stdbool.h>

#include "base/error.h"
#include "object/oid.h"
#include "indexer/indexer.h"
#include "receive/receive.h"

/* The objects of a push. */
struct receive_objects {
	/* owned: objects before the push */
	struct known_objects *known;
	struct pack_indexer *ix; /* owned */
	struct pack_indexer_result result;
};

/*
 * Create the quarantine and store the objects that the client sends. A pack
 * with fewer objects than r->config.unpack_limit becomes loose objects. An
 * empty pack is not stored.
 *
 * Returns 0 or a negative error code, with a message for the client: objects
 * are corrupt, delta bases are missing, an object collides with another one,
 * the pack is longer than receive.maxInputSize, the client went away. Release
 * *o in all cases.
 */
int receive_objects_take(struct receive_objects *o, struct receive *r,
			 struct error *err);
void receive_objects_release(struct receive_objects *o);

/* Returns true if an object came with this push. Costs: O(log n). */
bool receive_objects_has(const struct receive_objects *o, enum hash_algo algo,
			 const struct oid *oid);

/*
 * Check the variables receive.fsck.<msg-id> before the client is asked for
 * commands. The caller's terminal gets a warning for each unknown <msg-id>.
 * Returns 0, ERR_INVALID if a value is invalid, or ERR_NOMEM. A skip list that
 * cannot be read is no error here.
 */
int receive_fsck_check_config(struct receive *r, struct error *err);

/*
 * Check the format of all objects of the push, and the content of the
 * .gitmodules and .gitattributes files in their trees (receive.fsckObjects,
 * transfer.fsckObjects, receive.fsck.*). Each finding is sent to the client.
 * Does nothing unless the configuration asks for checks.
 *
 * Returns 0 if no finding is an error, ERR_CORRUPT if a finding is an error, or
 * another negative error code.
 */
int receive_fsck(struct receive *r, const struct receive_objects *objects,
		 struct error *err);

#endif
