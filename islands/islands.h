/* SPDX-License-Identifier: MIT */
/*
 * Delta islands: sets of objects that are asked for together. Who gets all of
 * an island and nothing else can be sent every stored delta as it is, because
 * no object of an island is stored as a delta against one outside:
 *
 *	an object's base has to be in every island that the object is in
 *
 * There are islands of references, as pack.island configures them: what the
 * references of a fork reach, for instance. And there is the tip: what the
 * trees of chosen commits hold, and so what a clone of depth 1 is made of.
 * Packs without it store files of the newest commit as deltas against older
 * and larger versions of them, which such a clone does not get.
 *
 * And there are layers, for clones with history: of one branch, as a rule
 * HEAD's, or of all branches and tags. References of other kinds, pull requests
 * for instance, are seldom cloned and often many. Each layer is an island
 * together with those below it.
 */
#ifndef ISLANDS_ISLANDS_H
#define ISLANDS_ISLANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "ewah/bitset.h"
#include "islands/sets.h"
#include "refs/refs.h"
#include "walk/walk.h"

#define ISLANDS_NO_CORE UINT32_MAX

/* What a clone of which kind gets first, see above. */
enum islands_layer {
	ISLANDS_LAYER_HEAD,     /* what HEAD reaches, and tags of that */
	ISLANDS_LAYER_BRANCHES, /* what refs/heads/ and refs/tags/ add */
	ISLANDS_LAYER_REST,
	ISLANDS_LAYER_NR,
};

/* Immutable once painted; threads may share it. obj_pos are a walk's. */
struct islands {
	struct bitset tip; /* by obj_pos: trees and blobs of tips, heads */
	struct island_sets sets; /* of islands of references */
	uint32_t *set_of;        /* owned: by obj_pos, < end: number of a set;
				    NULL without such islands */
	uint32_t end;
	uint8_t *layers; /* owned: by obj_pos, < layer_end: enum
			    islands_layer; NULL: all in the first */
	uint32_t layer_end;
	uint32_t core; /* island of pack.islandCore, or ISLANDS_NO_CORE */
};

#define ISLANDS_INIT                                                           \
	{                                                                      \
		.core = ISLANDS_NO_CORE                                        \
	}

void islands_release(struct islands *islands);

/*
 * Paint the trees of the tips' commits, and trees and blobs among the tips
 * themselves. Reads each of these trees once. 0, or negative with *islands
 * partly painted.
 */
int islands_mark_tip(struct islands *islands, struct walk *w,
		     const struct walk_tips *tips, struct error *err);

/*
 * Paint what the references reach that pack.island puts into islands, over
 * the lists of an enumeration (keep_lists) of all references: a set for each
 * commit, from children to parents, then for each object of its list. Reads no
 * trees but those that references name, and those of heads.
 *
 * Each commit of `heads`, which references reach, is asked for by itself as
 * well, with its history and without: it gets two islands, what it reaches and
 * what its tree holds. The latter objects are also in the tip.
 *
 * Without the key and without heads nothing is painted. 0, or negative with
 * *islands partly painted.
 */
int islands_mark_refs(struct islands *islands, struct walk *w,
		      const struct walk_result *found, struct refs *refs,
		      const struct walk_tips *heads, struct error *err);

/*
 * Paint the layers over the lists of an enumeration (keep_lists) of all
 * references. Reads tags, no trees. Without HEAD nothing is painted. 0, or
 * negative with *islands partly painted.
 */
int islands_mark_layers(struct islands *islands, struct walk *w,
			const struct walk_result *found, struct refs *refs,
			struct error *err);

/* The layer of an object. NULL: there are no islands. */
static inline enum islands_layer islands_layer(const struct islands *islands,
					       uint32_t obj_pos)
{
	if (!islands || !islands->layers)
		return ISLANDS_LAYER_HEAD;
	return obj_pos < islands->layer_end
		       ? (enum islands_layer)islands->layers[obj_pos]
		       : ISLANDS_LAYER_REST;
}

/* The set of islands that an object is in. NULL: there are no islands. */
static inline uint32_t islands_set(const struct islands *islands,
				   uint32_t obj_pos)
{
	return islands && obj_pos < islands->end ? islands->set_of[obj_pos]
						 : ISLAND_SET_EMPTY;
}

/* Whether an object is in the island that is packed first. */
static inline bool islands_in_core(const struct islands *islands,
				   uint32_t obj_pos)
{
	return islands && islands->core != ISLANDS_NO_CORE &&
	       island_sets_has(&islands->sets, islands_set(islands, obj_pos),
			       islands->core);
}

/* Whether an object is in the tip. NULL: there are no islands. */
static inline bool islands_in_tip(const struct islands *islands,
				  uint32_t obj_pos)
{
	return islands && bitset_get(&islands->tip, obj_pos);
}

/* Whether an object may be stored as a delta against this base. */
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

#endif
