/* SPDX-License-Identifier: MIT */
/*
 * Merge bases of two commits: their common ancestors, without those that
 * another common ancestor reaches (git-merge-base(1)).
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
 * Finds the merge bases of two commits (commit_nr), newest first. If one of the
 * two commits is an ancestor of the other, the only merge base is this
 * ancestor. Returns 0 with *bases malloc()ed (NULL if there is no merge base),
 * or a negative error code like revwalk_run().
 */
int merge_bases(uint32_t **bases, size_t *nr, struct history *h, uint32_t one,
		uint32_t other, struct error *err);

/*
 * Works like merge_bases() for ids of commits or of tags of commits. Returns
 * ERR_INVALID ("'<id>' is not a commit") for other objects. *bases and *nr are
 * set in any case.
 */
int merge_bases_of(struct oid **bases, size_t *nr, const struct odb *odb,
		   const struct oid *one, const struct oid *other,
		   struct error *err);

#endif
