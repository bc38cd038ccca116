/* SPDX-License-Identifier: MIT */
/*
 * Decodes commits ahead of a walk, on all processors.
 *
 * A walk visits commits one by one, in an order that depends on the commits
 * visited before. Decoding has no such order: all commits reachable from the
 * walk's queue can be decoded in any order, and the walk looks them up here
 * later. Commits that could not be decoded (not packed, broken, on the shallow
 * boundary) are not stored here. The walk reads these itself, so that results
 * and errors do not depend on this module.
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
 * Decodes the commits `from` (obj_pos, packed) and all their ancestors, but not
 * past ids in `shallow` (NULL: none). `threads` 0: as many as processors. No
 * other thread may use the space during the call. Returns NULL if memory or
 * threads run out; the walk is then only slower.
 */
struct commit_ahead *commit_ahead_new(struct objspace *space,
				      const struct oidmap *shallow,
				      const uint32_t *from, size_t from_nr,
				      unsigned threads);
void commit_ahead_free(struct commit_ahead *ahead);

/*
 * Sets *commit to a decoded commit. Returns false if the commit was not
 * decoded.
 */
bool commit_ahead_get(const struct commit_ahead *ahead, uint32_t obj_pos,
		      struct ahead_commit *commit);

#endif
