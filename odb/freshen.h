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

/*
 * Sets the modification time of a .pack file to the present. Returns true if
 * all objects of the pack have the present time now. Returns false if not: the
 * pack is a cruft pack, has a temporary name, was removed, or belongs to
 * another user; or memory ran out. Thread-safe.
 */
bool freshen_pack(const struct pack *pack);

#endif
