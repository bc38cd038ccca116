/* SPDX-License-Identifier: MIT */
/*
 * Delta islands: sets of objects that clients request together. No object of an
 * island is stored as a delta of an object outside of the island:
 *
 * the base of an object is in every island that the object is in
 *
 * So if a client gets one whole island and nothing else, every stored delta can
 * be sent unchanged.
 *
 * Islands of references are configured by pack.island. One island is, for
 * instance, all objects that the references of a fork reach.
 *
 * The tip island is the closure of the trees of chosen commits: the objects of
 * a clone of depth 1. Without the tip island, a pack may store files of the
 * newest commit as deltas of older versions. A clone of depth 1 does not get
 * these versions.
 *
 * A pack has three layers: what HEAD reaches, what branches and tags add, and
 * the rest. Each layer together with the layers before it is an island. So a
 * clone with full history, of HEAD's branch only or of all branches and tags,
 * gets a whole island. The rest is mostly what other references reach, for
 * instance pull requests. There are often many, and they are seldom cloned.
 */
#ifndef ISLANDS_ISLANDS_H
#define ISLANDS_ISLANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/pattern.h"
#include "check/promisor.h"
#include "config/config.h"
#include "ewah/bitset.h"
#include "refs/refs.h"
#include "sys/progress.h"
#include "walk/walk.h"

/* ---- sets of islands (sets.c) */

/*
 * Sets of islands. Each set is stored once, and has an index by which objects
 * refer to it. Many objects have the same set. For example, each object of the
 * common history of two forks is in the islands of both forks.
 *
 * Set 0 is empty. A set takes one bit for each island. Unions of two sets are
 * cached, since nearly all unions are computed again. One thread may add sets.
 * When no more sets are added, threads may read them at the same time.
 */

#define ISLAND_SET_EMPTY UINT32_C(0)

struct island_union {
	uint32_t a, b; /* a < b */
	uint32_t of;
};

struct island_sets {
	uint32_t island_nr;
	/* number of words of each set */
	size_t word_nr;
	/*
	 * owned: the sets as bit masks; each set has `word_nr` words, and set s
	 * begins at index s * word_nr
	 */
	uint64_t *words;
	uint32_t nr; /* number of sets */
	/* number of words for which `words` has memory */
	size_t alloc;
	/*
	 * owned: hash table that finds equal sets: the index of a set in
	 * `words`, or 0 for a free slot
	 */
	uint32_t *table;
	/* number of slots in `table`, a power of two */
	size_t table_nr;
	/*
	 * owned: cache of unions. The hash value of a union determines its
	 * slot. Of the unions with the same slot, the cache has the one that
	 * was computed last.
	 */
	struct island_union *unions;
};

/*
 * Initialises `sets` with the empty set of `island_nr` islands. Release in any
 * case. Returns 0 or ERR_NOMEM.
 */
int island_sets_init(struct island_sets *sets, uint32_t island_nr);
void island_sets_release(struct island_sets *sets);

/*
 * Makes a set of many islands: island_sets_begin() once, island_sets_put() for
 * each island (< island_nr), and island_sets_end() once, which returns the
 * index of the set. Only the whole set is stored. If islands are joined one by
 * one with island_sets_add(), each step stores a set. island_sets_begin()
 * returns 0 or ERR_NOMEM.
 */
int island_sets_begin(struct island_sets *sets);
void island_sets_put(struct island_sets *sets, uint32_t island);
uint32_t island_sets_end(struct island_sets *sets);

/*
 * Sets *set to the index of the set that has only `island` (< island_nr).
 * Returns 0 or ERR_NOMEM.
 */
int island_sets_single(uint32_t *set, struct island_sets *sets,
		       uint32_t island);

/*
 * `other` and *set are indexes of two sets. Replaces *set by the index of the
 * union of the two sets. Returns 0 or ERR_NOMEM.
 */
int island_sets_add(uint32_t *set, struct island_sets *sets, uint32_t other);

bool island_sets_has(const struct island_sets *sets, uint32_t set,
		     uint32_t island);

/* Returns whether the set `set` has every island that the set `sub` has. */
bool island_sets_contains(const struct island_sets *sets, uint32_t set,
			  uint32_t sub);

/* Returns the number of islands in a set. */
uint32_t island_sets_count(const struct island_sets *sets, uint32_t set);

/* ---- the islands of the objects of a walk */

#define ISLANDS_NO_CORE UINT32_MAX

/*
 * The layers of a pack. Each layer has the objects that one kind of clone gets
 * in addition to the objects of the layers before it.
 */
enum islands_layer {
	/* objects that HEAD reaches, and tags of these objects */
	ISLANDS_LAYER_HEAD,
	/* objects that branches or tags reach, but HEAD does not */
	ISLANDS_LAYER_BRANCHES,
	ISLANDS_LAYER_REST,
	ISLANDS_LAYER_NR,
};

/*
 * The islands of the objects that a walk has numbered. Sets and arrays are
 * indexed by obj_pos. Immutable after marking; threads may share them.
 */
struct islands {
	/*
	 * indexed by obj_pos: the tip island, which has the trees and blobs of
	 * the tips and of the head commits
	 */
	struct bitset tip;
	/* the sets of islands of all objects; equal sets are stored once */
	struct island_sets sets;
	/*
	 * Owned array with an element for each obj_pos < end: the index, in
	 * `sets`, of the set of islands that the object is in. NULL if there
	 * are no islands of references.
	 */
	uint32_t *set_of;
	uint32_t end;
	/*
	 * Owned array with an element for each obj_pos < layer_end: the layer
	 * of the object (enum islands_layer). NULL: all objects are in the
	 * first layer.
	 */
	uint8_t *layers;
	uint32_t layer_end;
	/*
	 * number of the island that pack.islandCore names, or ISLANDS_NO_CORE
	 */
	uint32_t core;
	/*
	 * set by the caller of islands_mark_refs(): leaves out references that
	 * cannot be read or whose objects are missing
	 */
	bool skips_broken;
	/*
	 * set by the caller of islands_mark_refs(): shows how many trees got
	 * their islands; NULL: shows nothing
	 */
	const struct progress_out *progress;
};

#define ISLANDS_INIT                                                           \
	{                                                                      \
		.core = ISLANDS_NO_CORE                                        \
	}

void islands_release(struct islands *islands);

/*
 * Marks the tip island: the trees and blobs that clones of depth 1 of the tips
 * get. It has all objects that the trees of the tips reach, and tips that are
 * themselves trees or blobs. Each of these trees is read once. Returns 0 or a
 * negative error code. After an error, *islands may be partly marked.
 */
int islands_mark_tip(struct islands *islands, struct walk *w,
		     const struct walk_tips *tips, struct error *err);

/*
 * Marks the objects of each island of references (pack.island). `found` is the
 * result of walk_enumerate() for all references, with the option keep_lists: it
 * lists, for each commit, the trees and blobs that are new in the commit.
 *
 * This function visits the commits from children to parents, and computes a set
 * of islands for each commit. The commit gets this set, and so do the trees and
 * blobs in its list. So most trees need not be read. Only two kinds of trees
 * are read: trees that references name directly, and the trees of `heads`.
 *
 * `heads` are commits that clients also request alone: as a clone with full
 * history, and as a clone of depth 1. So each head adds two islands. The first
 * one has all objects that the commit reaches. The second one has all objects
 * that the commit's tree reaches: the trees and blobs of a clone of depth 1.
 * These trees and blobs are also marked as objects of the tip island, which has
 * the objects of all clones of depth 1 (islands_mark_tip()). Precondition: each
 * head is reachable from a reference.
 *
 * In a partial clone, `promisor` is not NULL, and `found` is the result of
 * promisor_enumerate(), which does not list the new trees and blobs of commits.
 * In this case the trees of all found commits are read, once for each set of
 * islands. Two kinds of objects get no islands: objects of promisor packs, and
 * objects that only promised objects reach.
 *
 * Without pack.island and without heads nothing is marked. Returns 0 or a
 * negative error code. After an error, *islands may be partly marked.
 */
int islands_mark_refs(struct islands *islands, struct walk *w,
		      const struct walk_result *found, struct refs *refs,
		      const struct walk_tips *heads,
		      const struct promisor *promisor, struct error *err);

/*
 * Sets *nr to the number of islands of references, as stock Git counts them: if
 * the references of several islands have the same values, these islands count
 * as one. Leaves out references that cannot be read. Returns 0 or a negative
 * error code.
 */
int islands_count(size_t *nr, struct walk *w, struct refs *refs,
		  struct error *err);

/*
 * Finds out to which layer of a pack (enum islands_layer) each object belongs,
 * and records the layer in islands->layers. Objects that commits do not reach,
 * such as a tree that only a tag names, are in the last layer. There is one
 * exception: if a ref below refs/tags/ or refs/heads/ names a tag object, and
 * the tag leads to a commit, the tag object gets the layer of this commit.
 * `found` is the result of walk_enumerate() for all references, with
 * keep_lists. Tags are read, trees are not.
 *
 * If HEAD names no object, no layers are recorded: islands_layer() then returns
 * the first layer for each object. Returns 0 or a negative error code. After an
 * error, some layers may be missing in *islands.
 */
int islands_mark_layers(struct islands *islands, struct walk *w,
			const struct walk_result *found, struct refs *refs,
			struct error *err);

/*
 * Returns the layer of an object, or the first layer if `islands` is NULL.
 */
static inline enum islands_layer islands_layer(const struct islands *islands,
					       uint32_t obj_pos)
{
	if (!islands || !islands->layers)
		return ISLANDS_LAYER_HEAD;
	return obj_pos < islands->layer_end
		       ? (enum islands_layer)islands->layers[obj_pos]
		       : ISLANDS_LAYER_REST;
}

/*
 * Finds the set of all islands that an object is in. Returns the index of the
 * set in islands->sets. The index is ISLAND_SET_EMPTY if the object is in no
 * island, or if `islands` is NULL.
 */
static inline uint32_t islands_set(const struct islands *islands,
				   uint32_t obj_pos)
{
	return islands && obj_pos < islands->end ? islands->set_of[obj_pos]
						 : ISLAND_SET_EMPTY;
}

/*
 * Returns whether an object is in the core island (pack.islandCore), which is
 * packed first.
 */
static inline bool islands_in_core(const struct islands *islands,
				   uint32_t obj_pos)
{
	return islands && islands->core != ISLANDS_NO_CORE &&
	       island_sets_has(&islands->sets, islands_set(islands, obj_pos),
			       islands->core);
}

/*
 * Returns whether an object is in the tip island. Returns false if `islands` is
 * NULL.
 */
static inline bool islands_in_tip(const struct islands *islands,
				  uint32_t obj_pos)
{
	return islands && bitset_get(&islands->tip, obj_pos);
}

/*
 * Returns whether an object may be stored as a delta of a base: the base must
 * be in every island of the object.
 */
static inline bool islands_may_delta(const struct islands *islands,
				     uint32_t obj_pos, uint32_t base_obj_pos)
{
	if (!islands)
		return true;
	if (islands_in_tip(islands, obj_pos) &&
	    !islands_in_tip(islands, base_obj_pos))
		return false;
	if (islands_layer(islands, base_obj_pos) >
	    islands_layer(islands, obj_pos))
		return false;
	return !islands->set_of ||
	       island_sets_contains(&islands->sets,
				    islands_set(islands, base_obj_pos),
				    islands_set(islands, obj_pos));
}

/*
 * The islands to which references belong (git-pack-objects(1), "DELTA
 * ISLANDS"). The last pattern of pack.island that matches a reference decides.
 * The text that the pattern captures is the island's name.
 */

struct island_name {
	char *name;      /* owned */
	uint32_t island; /* number of the island */
};

struct island_patterns {
	/*
	 * owned: the compiled patterns of pack.island; each of them is owned
	 * too
	 */
	struct pattern **patterns;
	size_t nr, alloc;
	/* owned: names of the islands, sorted */
	struct island_name *names;
	size_t name_nr, name_alloc;
	struct buf scratch;
};

#define ISLAND_PATTERNS_INIT                                                   \
	{                                                                      \
		NULL, 0, 0, NULL, 0, 0, BUF_INIT                               \
	}

/*
 * Compiles the patterns of pack.island, of which there may be none. Release in
 * any case. Returns 0 or a negative error code.
 */
int island_patterns_load(struct island_patterns *patterns,
			 const struct config *config, struct error *err);
void island_patterns_release(struct island_patterns *patterns);

/*
 * Sets *island to the number of the island of a reference. New islands are
 * numbered from 0. Returns 1 if the reference is in an island, 0 if not, or a
 * negative error code.
 */
int island_patterns_match(uint32_t *island, struct island_patterns *patterns,
			  const char *ref, struct error *err);

/*
 * Returns the number of the island with a name, or UINT32_MAX if no reference
 * is in this island.
 */
uint32_t island_patterns_find(const struct island_patterns *patterns,
			      const char *name);

#endif
