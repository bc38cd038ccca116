/* SPDX-License-Identifier: MIT */
/*
 * Freshening: an object that is written again counts as new.
 *
 * Pruning goes by the time of an unreachable object (repack/unreachable.h). A
 * writer that leaves an existing object alone must therefore renew the time of
 * one copy. Otherwise a prune removes the object before a reference names it.
 *
 *	| copy | what is renewed |
 *	|---|---|
 *	| in a pack | the time of the .pack file |
 *	| loose | the time of the file |
 *	| in a cruft pack | nothing: the .mtimes file holds the time |
 */
#ifndef ODB_FRESHEN_H
#define ODB_FRESHEN_H

#include <stdbool.h>

#include "object/oid.h"
#include "odb/odb.h"

/*
 * Renew the time of one copy of the object, in the repository or an alternate.
 * Returns true if a copy has the present time now. Returns false if the caller
 * must write the object: no copy exists, only cruft packs have one, or no time
 * could be changed. A pack that a repack of stock Git has yet to name is not
 * used. Out of memory returns false too: an object may always be written again.
 * Thread-safe.
 */
bool freshen_object(const struct odb *odb, const struct oid *oid);

#endif
