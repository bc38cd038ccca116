/* SPDX-License-Identifier: MIT */
/*
 * Reads the sorted entries of two trees in parallel. Entries that are equal in
 * both trees are skipped.
 */
#ifndef TREES_TREE_MERGE_H
#define TREES_TREE_MERGE_H

#include <stdbool.h>

#include "base/cursor.h"
#include "object/parse.h"

struct tree_merge {
	/* the bytes of both trees that were not read yet; borrowed */
	struct cursor a, b;
	enum hash_algo algo;
	/*
	 * valid after ERR_CORRUPT. true: the first tree is malformed; false:
	 * the second one
	 */
	bool is_a_bad;
	struct tree_entry a_entry, b_entry;
};

/*
 * Returns a merge of the trees with the bytes `a` and `b`. A tree without bytes
 * has no entries. The bytes must stay valid.
 */
struct tree_merge tree_merge_make(struct cursor a, struct cursor b,
				  enum hash_algo algo);

/*
 * Takes the next name at which the trees differ. *a is the entry of this name
 * in the first tree, and *b in the second tree; NULL: the tree has no entry of
 * this name. If both are set, both are directories or none is. Both entries are
 * valid until the next call.
 *
 * Returns 1 if there is such a name, 0 at the end of both trees, or ERR_CORRUPT
 * if the next entry of a tree is malformed. Names before this entry were
 * returned.
 */
int tree_merge_next(struct tree_merge *m, const struct tree_entry **a,
		    const struct tree_entry **b);

#endif
