/* SPDX-License-Identifier: MIT */
/*
 * Keeps two sets of objects: those named as trees, and those named as blobs. An
 * object in both sets is an error.
 */
#include "trees/item-kinds.h"

void item_kinds_release(struct item_kinds *kinds)
{
	bitset_release(&kinds->as_tree);
	bitset_release(&kinds->as_blob);
}

int item_kinds_reserve(struct item_kinds *kinds, size_t end)
{
	return bitset_grow(&kinds->as_tree, end) < 0 ||
			       bitset_grow(&kinds->as_blob, end) < 0
		       ? ERR_NOMEM
		       : 0;
}

/*
 * Sets the error "object <id> is a <type>, not a <type>". The first type is the
 * type of the stored object. The second type is the type that some tree states.
 */
static int complain(struct objspace *space, uint32_t obj_pos, struct error *err)
{
	struct odb_reader *reader = odb_reader_new(space->odb, 0);
	enum object_type type;
	int ret = reader ? objspace_info(space, reader, obj_pos, &type, NULL,
					 err)
			 : error_nomem(err);

	odb_reader_free(reader);
	if (ret < 0)
		return ret;
	return objspace_mistyped(space, obj_pos, type,
				 type == OBJ_TREE ? OBJ_BLOB : OBJ_TREE, err);
}

int item_kinds_add(struct item_kinds *kinds, struct objspace *space,
		   uint32_t obj_pos, enum object_type type, struct error *err)
{
	if (item_kinds_reserve(kinds, (size_t)obj_pos + obj_pos / 2 + 64) < 0)
		return error_nomem(err);
	item_kinds_note(kinds, obj_pos, type);
	if (!bitset_test(&kinds->as_tree, obj_pos) ||
	    !bitset_test(&kinds->as_blob, obj_pos))
		return 0;
	return complain(space, obj_pos, err);
}

int item_kinds_check(const struct item_kinds *kinds, struct objspace *space,
		     struct error *err)
{
	size_t a = kinds->as_tree.word_nr, b = kinds->as_blob.word_nr;

	for (size_t i = 0; i < a && i < b; i++) {
		uint64_t both = kinds->as_tree.words[i] &
				kinds->as_blob.words[i];

		if (both)
			return complain(space,
					(uint32_t)(i * 64) +
						(uint32_t)__builtin_ctzll(both),
					err);
	}
	return 0;
}
