/* SPDX-License-Identifier: MIT */
/*
 * Freshening: an object that is written again must be as safe from pruning as a
 * new object.
 *
 * Pruning looks at the time of an unreachable object (repack/unreachable.h). A
 * writer that finds an existing copy does not write the object again, but
 * renews the time of the copy. Otherwise a prune may remove the object before a
 * reference names it. A copy in a cruft pack does not help: the writer must
 * write the object again.
 *
 * | copy | what is renewed |
 * |---|---|
 * | in a pack | the time of the .pack file |
 * | loose | the time of the file |
 * | in a cruft pack | nothing: the .mtimes file holds the time |
 */
#ifndef ODB_FRESHEN_H
#define ODB_FRESHEN_H

#include <stdbool.h>
#include <stdint.h>

#include "object/oid.h"
#include "odb/odb.h"

/*
 * Renews the time of one copy of the object, in the repository or an alternate.
 * Returns true if a copy has the present time now. Returns false if the caller
 * must write the object. The reason may be that no copy exists, that only cruft
 * packs have a copy, that no time could be changed, or that memory ran out.
 *
 * Packs whose names start with a dot do not count, because a running repack of
 * stock Git may still remove them. Thread-safe.
 */
bool freshen_object(const struct odb *odb, const struct oid *oid);

/* Whether freshen_pack() has set the modification time of a pack. */
enum freshen_state { FRESHEN_NOT_TRIED, FRESHEN_DONE, FRESHEN_FAILED };

/*
 * Makes sure that the objects of a pack are no older than `mtime_ns`
 * (nanoseconds since 1970): if the modification time of the .pack file in the
 * snapshot is earlier, sets it to the present. `state` is the state of this
 * pack, at first FRESHEN_NOT_TRIED; the time of a pack is set only once.
 *
 * Returns true if the objects are young enough now. Returns false if the time
 * could not be set: the pack is a cruft pack, has a temporary name, was
 * removed, or belongs to another user; or memory ran out.
 */
bool freshen_pack(enum freshen_state *state, const struct pack *pack,
		  int64_t mtime_ns);

#endif
