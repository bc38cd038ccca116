/* SPDX-License-Identifier: MIT */
/*
 * Finds the objects that each commit adds, by tree diff.
 *
 * new(c) is the set of trees and blobs of commit c that no parent of c has at
 * the same path. For any set A of commits that is closed under reachability
 *
 *	objects of A's trees  =  union of new(a) over all a in A
 *
 * The reason: an object of tree(a) that is not in new(a) is in the tree of a
 * parent of a, and this parent is in A too. For a set with a boundary (parents
 * outside A) the union holds all objects that are not in the boundary's trees.
 * new(c) may repeat an object of an older commit, for example after a revert.
 * The union is not affected.
 *
 * The tree diffs of different commits are independent, so all processors
 * compute them. Each changed tree is inflated about once, and an id is looked
 * up once for each *new* entry, not for each entry.
 */
#ifndef WALK_NEWOBJ_H
#define WALK_NEWOBJ_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "ewah/bitset.h"
#include "object/path-group.h"
#include "sys/progress.h"
#include "trees/treediff.h"
#include "walk/history.h"

/* The new-object list of one commit: trees first, then blobs. */
struct newobj_list {
	/* borrowed from struct newobj_set */
	const struct treediff_object *items;
	/* number of trees, which come first in `items` */
	uint32_t tree_nr;
	uint32_t nr;
};

struct newobj_chunk;

struct newobj_set {
	/*
	 * owned: the new-object list of each commit, in the order of `commits`
	 */
	struct newobj_list *lists;
	size_t nr;
	/* owned: memory that the lists point into */
	struct newobj_chunk *chunks;
	size_t chunk_nr;
};

#define NEWOBJ_SET_INIT                                                        \
	{                                                                      \
		NULL, 0, NULL, 0                                               \
	}

struct newobj_options {
	/* number of threads; 0: as many as processors */
	unsigned threads;
	const struct progress_out *progress; /* NULL: none */
	/*
	 * Memory limit in bytes; 0: none. Half of the memory is meant for the
	 * lists, which may exceed this half. The other half is divided among
	 * the threads for their caches of decoded trees. The cache of a thread
	 * also has a fixed limit.
	 */
	uint64_t memory_limit;
	/*
	 * true: the caller needs only the union of the lists. The list of a
	 * commit may then leave out subtrees that the list of an earlier commit
	 * has. `commits` must be ordered parents first.
	 */
	bool union_only;
	/* list no blobs */
	bool trees_only;
	/* how the path groups (treediff_object.group) are computed */
	enum path_grouping grouping;
	/*
	 * Set of objects (obj_pos) that are left out of the lists. The set must
	 * be closed under reachability: with each object, it has all objects
	 * that this object reaches. NULL: none.
	 */
	const struct bitset *known;
};

/*
 * Computes the new-object lists of `nr` parsed commits, on several threads. For
 * each commit, a thread compares the trees of the commit with those of its
 * parents. The threads take the commits in the order of their dates, whatever
 * the order of the array is. With union_only, the list of a single commit may
 * depend on the number of threads, but the union of all lists does not. Without
 * union_only, no list depends on the number of threads. *set must be
 * initialised; release it in any case. Returns 0 or a negative error code.
 */
int newobj_compute(struct newobj_set *set, struct history *h,
		   const uint32_t *commits, size_t nr,
		   const struct newobj_options *options, struct error *err);
void newobj_release(struct newobj_set *set);

/* Returns the number of bytes of memory that a set of lists takes. */
uint64_t newobj_size(const struct newobj_set *set);

#endif
