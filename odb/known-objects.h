/* SPDX-License-Identifier: MIT */
/*
 * Answers the indexer's questions about the repository's objects: which ids
 * exist, whether two objects are equal, and the delta bases that a thin pack
 * left out.
 *
 * The answers come from a snapshot of the objects, taken by
 * known_objects_open(). Loose objects are in 256 directories. A directory is
 * listed when an id that belongs there is first looked up. A query to the file
 * system for each object of a clone would take longer than indexing the pack.
 */
#ifndef ODB_KNOWN_OBJECTS_H
#define ODB_KNOWN_OBJECTS_H

#include "odb/odb.h"
#include "indexer/indexer.h"
#include "repo/repo.h"

struct known_objects;

/*
 * Opens the repository's objects for an indexer with `threads` threads. The
 * indexer gets its callbacks from known_objects_hooks(). A broken pack is left
 * out. Returns 0 with *out owned by the caller, or a negative error code.
 */
int known_objects_open(struct known_objects **out, const struct repo *repo,
		       unsigned threads, struct error *err);
void known_objects_close(struct known_objects *known);

/*
 * Sets the provider of missing objects. The provider gets the ids of all
 * missing bases of a thin pack in one call. `provider` must outlive `known`.
 * NULL: no provider.
 */
void known_objects_set_provider(struct known_objects *known,
				const struct odb_provider *provider);

/*
 * Returns callbacks for an indexer: `base`, `announce_bases`, `has` and
 * `compare`. The callbacks borrow `known`.
 */
struct pack_indexer_hooks known_objects_hooks(struct known_objects *known);

/*
 * Renews the modification time of an object if the snapshot has this object
 * (freshen_object()). Returns 1 if the object exists and its time is renewed, 0
 * if the object must be written, or a negative error code.
 */
int known_objects_freshen(struct known_objects *known, const struct oid *oid,
			  struct error *err);

#endif
