/* SPDX-License-Identifier: MIT */
/*
 * Many trees of packs, read family by family: a tree, those that are stored as
 * deltas of it, those that are deltas of these.
 *
 *	pack    |  A  |  B(A)  |  C(B)  |  D(A)  |  E(C)  |  F  |
 *	families   A -- B -- C -- E                         F
 *	            \-- D
 *
 * Depth first: a tree is made from its base while that is at hand, and what the
 * delta copies is not looked at, only what it inserts (tree-splice.h). Nothing
 * is kept for later but the bases on the way from the family's head to where
 * the reading stands, and of these only those that have more than one delta
 * still to come: the largest part of a family is read last, in place of its
 * base. So there are never more than log2(n) + 1 of n trees in memory.
 *
 * All the entries of all the trees are told, but of a tree that is not its
 * family's head, not those that the delta copies from its base: they are told
 * of the base, or of its base, up to the head, of which all are told.
 *
 * A tree whose base is not among the trees, or comes later in the pack, is the
 * head of a family of its own: so there are no circles. So is one that is in no
 * pack. Heads are read as any object is. What cannot be made from its base is
 * read so as well, and it is that reading that says what is wrong.
 */
#ifndef WALK_TREE_FAMILY_H
#define WALK_TREE_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/sort.h"
#include "object/oid.h"
#include "walk/objspace.h"

/* Immutable once made; threads may share it. Trees are numbered by place. */
struct tree_families {
	struct objspace *space;  /* borrowed */
	struct sort_item *trees; /* owned: value: obj_pos; key: its place, of
				    what is in packs by pack and offset */
	size_t nr;
	uint32_t
		*eldest; /* owned: the first tree made from this one, or NONE */
	uint32_t *next;  /* owned: the next one made from the same, or NONE */
	uint32_t *heir;  /* owned: the one that most are made from, or NONE */
	uint32_t *heads; /* owned: trees that begin a family */
	size_t head_nr;
};

#define TREE_FAMILIES_NONE UINT32_MAX

/*
 * Find the families of `nr` < UINT32_MAX trees (obj_pos, each once), on
 * `threads` threads. 0 or ERR_NOMEM; release in any case.
 */
int tree_families_init(struct tree_families *f, struct objspace *space,
		       const uint32_t *trees, size_t nr, unsigned threads,
		       struct error *err);
void tree_families_release(struct tree_families *f);

/* Where a tree is stored; false when it is in no pack (or in too many). */
bool tree_families_at(const struct tree_families *f, uint32_t tree,
		      struct pack **pack, uint64_t *offset);

/* An entry of one of the trees. */
struct tree_find {
	uint8_t raw[OID_MAX_LEN]; /* its object's id */
	bool is_dir;
};

/* What is told: entries that are no submodules, some hundreds at a time. A
 * nonzero return ends the reading and is returned; negative with *err set. */
typedef int (*tree_find_fn)(void *ctx, const struct tree_find *finds, size_t nr,
			    struct error *err);

/* What one thread needs to read them. */
struct tree_family_reader;

/* `cache_limit`: bytes of bases of heads. NULL when out of memory. */
struct tree_family_reader *tree_family_reader_new(struct objspace *space,
						  size_t cache_limit,
						  bool trees_only,
						  tree_find_fn fn, void *ctx);
void tree_family_reader_free(struct tree_family_reader *reader);

/*
 * Read the families of heads [first, last). 0; ERR_MISSING or ERR_CORRUPT ("not
 * a tree object", "malformed tree", or what objspace_read() says) for a tree
 * that is not there or cannot be read; ERR_NOMEM; or what `fn` returned.
 */
int tree_family_reader_run(struct tree_family_reader *reader,
			   const struct tree_families *families, size_t first,
			   size_t last, struct error *err);

#endif
