/* SPDX-License-Identifier: MIT */
/*
 * Objects as trees name them: as trees (mode 040000) or as blobs. An object
 * that is named both ways is one that some tree names with the wrong mode. An
 * enumeration that counts each object once would not look into such a tree.
 */
#ifndef WALK_ITEM_KINDS_H
#define WALK_ITEM_KINDS_H

#include <stddef.h>
#include <stdint.h>

#include "ewah/bitset.h"
#include "walk/objspace.h"

struct item_kinds {
	struct bitset as_tree, as_blob; /* owned: by obj_pos */
};

#define ITEM_KINDS_INIT                                                        \
	{                                                                      \
		BITSET_INIT, BITSET_INIT                                       \
	}

void item_kinds_release(struct item_kinds *kinds);

/* Make room for obj_pos below `end`. Returns 0 or ERR_NOMEM. */
int item_kinds_reserve(struct item_kinds *kinds, size_t end);

/* Note one object, of which there is room for; threads may share the sets. */
static inline void item_kinds_note(struct item_kinds *kinds, uint32_t obj_pos,
				   enum object_type type)
{
	if (type == OBJ_TREE)
		bitset_claim(&kinds->as_tree, obj_pos);
	else if (type == OBJ_BLOB)
		bitset_claim(&kinds->as_blob, obj_pos);
}

/*
 * Note one object, and check it alone, for one thread. Returns 0, or a negative
 * error code as item_kinds_check().
 */
int item_kinds_add(struct item_kinds *kinds, struct objspace *space,
		   uint32_t obj_pos, enum object_type type, struct error *err);

/*
 * Returns 0 if no object was noted both as a tree and as a blob, ERR_CORRUPT
 * with the error "object <id> is a <type>, not a <type>" otherwise, or another
 * negative error code.
 */
int item_kinds_check(const struct item_kinds *kinds, struct objspace *space,
		     struct error *err);

#endif
