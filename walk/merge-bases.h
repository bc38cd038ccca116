/* SPDX-License-Identifier: MIT */
/*
 * Where two histories have come apart: commits that both have and that no other
 * such commit has (git-merge-base(1)).
 *
 *	      a---o---x         x, y: two commits with two bases, a and b
 *	     / \ /
 *	 ---o   X
 *	     \ / \
 *	      b---o---y
 */
#ifndef WALK_MERGE_BASES_H
#define WALK_MERGE_BASES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "object/oid.h"
#include "odb/odb.h"
#include "walk/history.h"

/*
 * The bases of two commits (commit_nr), the newest first; a commit that the
 * other one has is the only base. 0 with *bases malloc()ed (NULL for none); or
 * as revwalk_run().
 */
int merge_bases(uint32_t **bases, size_t *nr, struct history *h, uint32_t one,
		uint32_t other, struct error *err);

/*
 * The same by ids, which may be of tags. ERR_INVALID ("'<id>' is not a commit")
 * for other objects; *bases and *nr are set in any case.
 */
int merge_bases_of(struct oid **bases, size_t *nr, const struct odb *odb,
		   const struct oid *one, const struct oid *other,
		   struct error *err);

#endif
