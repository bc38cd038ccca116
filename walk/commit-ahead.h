/* SPDX-License-Identifier: MIT */
/*
 * Commits decoded ahead of a walk, by all processors.
 *
 * A walk visits commits one after the other, in an order that depends on what
 * it has seen. Decoding them does not: everything reachable from where the
 * walk stands can be decoded in any order, and is found here when the walk
 * comes by. What could not be decoded (not packed, broken, cut off by a
 * shallow boundary) is not here and is left to the walk to deal with, so that
 * results and errors do not depend on it.
 */
#ifndef WALK_COMMIT_AHEAD_H
#define WALK_COMMIT_AHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "object/oidmap.h"
#include "walk/objspace.h"

struct commit_ahead;

/* A decoded commit. */
struct ahead_commit {
	uint64_t date;     /* committer date */
	uint32_t tree_pos; /* obj_pos */
	uint32_t parent_nr;
	const uint32_t *parents; /* obj_pos; borrowed */
};

/*
 * Decode the commits `from` (obj_pos, packed) and all they reach but the
 * history behind ids in `shallow` (NULL: none). `threads` 0: as many as
 * processors. The space must be shared with nobody else meanwhile. Returns
 * NULL when out of memory or threads: only time is lost.
 */
struct commit_ahead *commit_ahead_new(struct objspace *space,
				      const struct oidmap *shallow,
				      const uint32_t *from, size_t from_nr,
				      unsigned threads);
void commit_ahead_free(struct commit_ahead *ahead);

/* A commit that was decoded; false when it was not. */
bool commit_ahead_get(const struct commit_ahead *ahead, uint32_t obj_pos,
		      struct ahead_commit *commit);

#endif
