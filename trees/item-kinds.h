/* SPDX-License-Identifier: MIT */
/*
 * Detects objects that one tree names as a tree (mode 040000) and another tree
 * names as a blob. One of the two trees then has a wrong mode. If this were no
 * error, an enumeration could list the object as a blob, and miss the objects
 * below it.
 */
#ifndef TREES_ITEM_KINDS_H
#define TREES_ITEM_KINDS_H

#include <stddef.h>
#include <stdint.h>

#include "ewah/bitset.h"
#include "trees/objspace.h"

struct item_kinds {
	/*
	 * owned sets, indexed by obj_pos: objects that were named as trees
	 * (as_tree), and objects that were named as blobs (as_blob)
	 */
	struct bitset as_tree, as_blob;
};

#define ITEM_KINDS_INIT                                                        \
	{                                                                      \
		BITSET_INIT, BITSET_INIT                                       \
	}

void item_kinds_release(struct item_kinds *kinds);

/* Makes room for objects with obj_pos < `end`. Returns 0 or ERR_NOMEM. */
int item_kinds_reserve(struct item_kinds *kinds, size_t end);

/*
 * Records that a tree names an object as a tree or as a blob (`type`). Any
 * other type is ignored. item_kinds_reserve() must have made room for the
 * object. Threads may call this function at the same time.
 */
static inline void item_kinds_note(struct item_kinds *kinds, uint32_t obj_pos,
				   enum object_type type)
{
	if (type == OBJ_TREE)
		bitset_claim(&kinds->as_tree, obj_pos);
	else if (type == OBJ_BLOB)
		bitset_claim(&kinds->as_blob, obj_pos);
}

/*
 * Records that a tree names an object as a tree or as a blob (`type`). If the
 * object was recorded as the other of these two types before, returns an error
 * like item_kinds_check(). Otherwise returns 0, or ERR_NOMEM. Makes room as
 * needed. Only one thread may call this function.
 */
int item_kinds_add(struct item_kinds *kinds, struct objspace *space,
		   uint32_t obj_pos, enum object_type type, struct error *err);

/*
 * Returns 0 if no object was recorded both as a tree and as a blob. Otherwise
 * returns ERR_CORRUPT with the error "object <id> is a <type>, not a <type>",
 * or another negative error code.
 */
int item_kinds_check(const struct item_kinds *kinds, struct objspace *space,
		     struct error *err);

#endif
