/* SPDX-License-Identifier: MIT */
/*
 * The repository's objects as an indexer of packs wants to know them: which
 * ids exist, whether two objects are the same, what a thin pack left out.
 *
 * A snapshot, as of opening. Loose objects are listed directory by directory
 * when the first id that would lie there is asked for: asking the file system
 * about each object of a clone would take longer than indexing it.
 */
#ifndef ODB_KNOWN_OBJECTS_H
#define ODB_KNOWN_OBJECTS_H

#include "pack/indexer.h"
#include "repo/repo.h"

struct known_objects;

/*
 * Open the repository's objects for hooks that are called by `threads`
 * threads. 0 with *out owned by the caller, or a negative error; a broken
 * pack is left out.
 */
int known_objects_open(struct known_objects **out, const struct repo *repo,
		       unsigned threads, struct error *err);
void known_objects_close(struct known_objects *known);

/* All three hooks. They borrow `known`. */
struct pack_indexer_hooks known_objects_hooks(struct known_objects *known);

/*
 * Whether an object that came with a pack need not be written: as
 * freshen_object(), for an object that the snapshot has. Returns 1 if the
 * object is there and new, 0 if it must be written, or a negative error code.
 */
int known_objects_freshen(struct known_objects *known, const struct oid *oid,
			  struct error *err);

#endif
