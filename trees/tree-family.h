/* SPDX-License-Identifier: MIT */
/*
 * Reads many trees of packs family by family: a tree, the trees stored as
 * deltas of it, the deltas of these, and so on.
 *
 *	pack    |  A  |  B(A)  |  C(B)  |  D(A)  |  E(C)  |  F  |
 *	families   A -- B -- C -- E                         F
 *	            \-- D
 *
 * The order is depth first: a tree is made from its base while the base is in
 * memory. Only the entries that a delta inserts are looked at, not those that
 * it copies (tree-splice.h). The reader keeps only bases that are between the
 * family's head and the current tree and that have further deltas to read. The
 * delta with the largest family is read last among the deltas of a base, and
 * replaces the base in memory. So at most log2(n) + 1 of n trees are in memory.
 *
 * All entries of a family's head are reported. For any other tree, the entries
 * that its delta copies are not reported again. These entries were reported for
 * its base, for the base's base, or for the head.
 *
 * A tree is the head of its own family in three cases: its base is not among
 * the trees; its base comes later in the pack (so there are no circles); or the
 * tree is in no pack. A head is read like any object. A tree that cannot be
 * made from its base is read in the same way, and this reading reports the
 * error.
 */
#ifndef TREES_TREE_FAMILY_H
#define TREES_TREE_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/sort.h"
#include "object/oid.h"
#include "trees/objspace.h"

/*
 * The families of a set of trees. A family is a tree (its head), the trees
 * stored as deltas of it, the deltas of these, and so on. The struct is
 * immutable once made; threads may share it. A tree's number is its index in
 * `trees`, called `tree` below.
 */
struct tree_families {
	struct objspace *space; /* borrowed */
	/*
	 * owned: the trees in the order of packs and offsets. value: obj_pos;
	 * key: pack and offset of a tree in a pack.
	 */
	struct sort_item *trees;
	size_t nr;
	/*
	 * owned array, indexed by tree: the first tree that is a delta of this
	 * tree, or NONE
	 */
	uint32_t *eldest;
	/*
	 * owned array, indexed by tree: the next tree that is a delta of the
	 * same base, or NONE
	 */
	uint32_t *next;
	/*
	 * Owned array, indexed by tree: the heir of the tree. Each tree that is
	 * stored as a delta of this tree has a family of its own: the tree
	 * itself, and all trees that are deltas of it, directly or through
	 * other deltas. The heir is the delta with the largest family. The heir
	 * is read last among the deltas, and then replaces this tree in memory.
	 * This limits the number of trees that are in memory at the same time.
	 * NONE: the tree is not the base of a delta.
	 */
	uint32_t *heir;
	/* owned: the trees that are heads of families */
	uint32_t *heads;
	size_t head_nr;
};

#define TREE_FAMILIES_NONE UINT32_MAX

/*
 * Divides the `nr` trees in `trees` (obj_pos, each once) into families, on
 * `threads` threads. `nr` must be less than UINT32_MAX. Returns 0 or ERR_NOMEM;
 * the caller releases *f in both cases.
 */
int tree_families_init(struct tree_families *f, struct objspace *space,
		       const uint32_t *trees, size_t nr, unsigned threads,
		       struct error *err);
void tree_families_release(struct tree_families *f);

/*
 * Sets *pack and *offset to the place where a tree is stored. Returns false if
 * the tree is in no pack, or if the repository has 65536 packs or more.
 */
bool tree_families_at(const struct tree_families *f, uint32_t tree,
		      struct pack **pack, uint64_t *offset);

/* An entry of a tree that was read: the id of its object, and its type. */
struct tree_find {
	uint8_t raw[OID_MAX_LEN]; /* id of the entry's object */
	bool is_dir;
};

/*
 * Receives entries of trees, some hundreds at a time, without submodules. A
 * nonzero return ends the reading and is returned. If the return is negative,
 * *err must be set.
 */
typedef int (*tree_find_fn)(void *ctx, const struct tree_find *finds, size_t nr,
			    struct error *err);

/* The state of one thread that reads families. */
struct tree_family_reader;

/*
 * Makes a reader. `cache_limit`: maximum number of bytes of delta bases that
 * are kept in memory for reading the heads of families. `trees_only`: do not
 * report blobs. Returns NULL if memory runs out.
 */
struct tree_family_reader *tree_family_reader_new(struct objspace *space,
						  size_t cache_limit,
						  bool trees_only,
						  tree_find_fn fn, void *ctx);
void tree_family_reader_free(struct tree_family_reader *reader);

/*
 * A family is a tree, the trees that are stored as deltas of it, the deltas of
 * these, and so on. The first tree is called the head of the family. Reads the
 * families whose heads have the indexes [first, last) in families->heads.
 * Returns 0, ERR_NOMEM, or the nonzero value that `fn` returned. If a tree
 * cannot be read, returns ERR_MISSING or ERR_CORRUPT. The message is then "not
 * a tree object", "malformed tree", or the message of objspace_read().
 */
int tree_family_reader_run(struct tree_family_reader *reader,
			   const struct tree_families *families, size_t first,
			   size_t last, struct error *err);

#endif
