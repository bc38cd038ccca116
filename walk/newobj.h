/* SPDX-License-Identifier: MIT */
/*
 * What each commit adds: enumeration by tree difference.
 *
 * new(c) is the set of trees and blobs of commit c that no parent of c has at
 * the same path. For any set A of commits that is closed under taking parents
 *
 *	objects of A's trees  =  union of new(a) over all a in A
 *
 * because what of tree(a) is not in new(a) is in some parent's tree. For a
 * set with a boundary (parents outside A) the union holds everything that is
 * not in the boundary's trees. new(c) may repeat an object of an older
 * commit (a revert, a second merge parent past the limit below): a union does
 * not mind.
 *
 * The differences of different commits do not depend on each other, so all
 * processors compute them; every changed tree is inflated about once and ids
 * are looked up once per *new* entry instead of once per entry.
 */
#ifndef WALK_NEWOBJ_H
#define WALK_NEWOBJ_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "ewah/bitset.h"
#include "object/name-group.h"
#include "sys/progress.h"
#include "walk/history.h"

/* Only this many parents are compared with; more would only shrink new(c). */
#define NEWOBJ_MAX_PARENTS 8

struct newobj {
	uint32_t obj_pos;
	uint32_t name_hash; /* of its path, version 1 (name_hash_add) */
	uint32_t group;     /* of its path, as options->grouping says */
};

/* new(c) of one commit: trees first, then blobs. */
struct newobj_list {
	const struct newobj *items; /* borrowed from the set */
	uint32_t tree_nr;           /* items[0 .. tree_nr) are trees */
	uint32_t nr;
};

struct newobj_chunk;

struct newobj_set {
	struct newobj_list *lists; /* owned: in the order of `commits` */
	size_t nr;
	struct newobj_chunk *chunks; /* owned: memory of the lists */
	size_t chunk_nr;
};

#define NEWOBJ_SET_INIT                                                        \
	{                                                                      \
		NULL, 0, NULL, 0                                               \
	}

struct newobj_options {
	unsigned threads;                    /* 0: as many as processors */
	const struct progress_out *progress; /* NULL: none */
	/*
	 * Bytes for lists and decoded trees. Half of it is for lists, which are
	 * as long as they have to be; each thread keeps decoded trees in its
	 * share of the rest. 0: each has its own, fixed limit, as it has with a
	 * larger share.
	 */
	uint64_t memory_limit;
	/*
	 * Only the union over all commits is wanted: a commit then leaves out
	 * subtrees that one before it in the array has listed. The array must
	 * be ordered parents first.
	 */
	bool union_only;
	bool trees_only;             /* blobs are left out, and not looked up */
	enum name_grouping grouping; /* of the objects in the lists */
	/*
	 * Objects, by obj_pos, that are known with everything they reach, and
	 * left out of the lists. NULL: none.
	 */
	const struct bitset *known;
};

/*
 * Compute the lists of `nr` parsed commits. The result does not depend on the
 * number of threads, but for union_only, where the union does not. Commits of
 * about the same date are compared one after the other, whatever the order of
 * the array. *set must be initialised; release it in any case.
 */
int newobj_compute(struct newobj_set *set, struct history *h,
		   const uint32_t *commits, size_t nr,
		   const struct newobj_options *options, struct error *err);
void newobj_release(struct newobj_set *set);

/* Bytes of memory that a set takes. */
uint64_t newobj_size(const struct newobj_set *set);

#endif
