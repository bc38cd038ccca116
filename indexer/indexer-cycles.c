/* SPDX-License-Identifier: MIT */
/*
 * Refuses a pack in which the bases of deltas form a cycle.
 *
 * A reader finds the base of a REF_DELTA by id, in the pack's index. The
 * indexer may have used another copy of the base: an object of the repository,
 * or one of several copies in the pack. So the indexer can resolve a delta
 * whose base, for a reader, is the delta itself. An example is a pack whose
 * only entry makes the object X as a delta against X, if the repository has X.
 * No reader can read such an object from the pack. A repack or prune-packed
 * would still remove other copies of the object, because a pack has its id.
 *
 * A group is all entries with the same id. An entry is "sound" if each reader
 * can read it: if it is stored whole, or if its base is sound. The base of an
 * OFS_DELTA is one entry. The base of a REF_DELTA is a group, which is sound if
 * all its entries are sound, because a reader may use any of them. A base that
 * is not in the pack will be appended to it, stored whole.
 */
#include <string.h>

#include "base/mem.h"
#include "indexer/indexer-parts.h"

struct cycle_check {
	const struct pack_indexer *ix;
	/*
	 * Owned, indexed by entry_nr: position in ix->order of the first entry
	 * of the same group. This position is the number of the group.
	 */
	uint32_t *groups;
	/* owned, by group: number of entries that are not known to be sound */
	uint32_t *doubtful;
	/*
	 * Owned: the sound entries, in the order in which they were found. The
	 * deltas of the first `at` entries were visited.
	 */
	uint32_t *sound;
	size_t at, sound_nr;
};

static bool is_same_id(const struct pack_indexer *ix, uint32_t a, uint32_t b)
{
	return !memcmp(indexer_id(ix, a), indexer_id(ix, b),
		       hash_len(ix->config.algo));
}

/*
 * Returns whether a reader may find another base than the indexer: if an object
 * is twice in the pack, or if a base came from the repository although it is in
 * the pack.
 */
static bool is_ambiguous(const struct pack_indexer *ix)
{
	size_t pos;

	for (size_t i = 0; i < ix->ref_nr; i++)
		if (ix->refs[i].outside_first != INDEXER_NONE &&
		    indexer_find_sorted(ix, ix->nr, &ix->refs[i].base, &pos))
			return true;
	for (size_t i = 1; i < ix->nr && ix->ref_nr; i++)
		if (is_same_id(ix, ix->order[i - 1], ix->order[i]))
			return true;
	return false;
}

static int init(struct cycle_check *c, const struct pack_indexer *ix)
{
	uint32_t group = 0;

	c->ix = ix;
	c->groups = mem_alloc(ix->nr, sizeof(*c->groups));
	c->doubtful = mem_calloc(ix->nr, sizeof(*c->doubtful));
	c->sound = mem_alloc(ix->nr, sizeof(*c->sound));
	if (!c->groups || !c->doubtful || !c->sound)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < ix->nr; i++) {
		if (i && !is_same_id(ix, ix->order[group], ix->order[i]))
			group = i;
		c->groups[ix->order[i]] = group;
		c->doubtful[group]++;
	}
	return 0;
}

static void release(struct cycle_check *c)
{
	free(c->groups);
	free(c->doubtful);
	free(c->sound);
}

/*
 * Notes as sound all deltas of type `stored` in a list linked through
 * next_sibling.
 */
static void note_deltas(struct cycle_check *c, uint32_t entry_nr,
			enum object_type stored)
{
	const struct indexer_entry *entries = c->ix->entries;

	for (; entry_nr != INDEXER_NONE;
	     entry_nr = entries[entry_nr].next_sibling)
		if (entries[entry_nr].stored == stored)
			c->sound[c->sound_nr++] = entry_nr;
}

/* Notes as sound all REF_DELTAs whose base is the group. */
static void note_ref_deltas(struct cycle_check *c, uint32_t group)
{
	const struct pack_indexer *ix = c->ix;
	const struct indexer_ref *ref = indexer_find_ref(
		ix, indexer_id(ix, ix->order[group]));

	if (!ref)
		return;
	note_deltas(c, ref->outside_first, OBJ_REF_DELTA);
	for (size_t i = group; i < ix->nr; i++) {
		if (c->groups[ix->order[i]] != group)
			break;
		note_deltas(c, ix->entries[ix->order[i]].first_child,
			    OBJ_REF_DELTA);
	}
}

/*
 * Notes as sound the entries that are stored whole, and the deltas against
 * bases that will be appended to the pack.
 */
static void note_roots(struct cycle_check *c)
{
	const struct pack_indexer *ix = c->ix;
	size_t pos;

	for (uint32_t i = 0; i < ix->nr; i++)
		if (ix->entries[i].stored == ix->entries[i].type)
			c->sound[c->sound_nr++] = i;
	for (size_t i = 0; i < ix->ref_nr; i++)
		if (!indexer_find_sorted(ix, ix->nr, &ix->refs[i].base, &pos))
			note_deltas(c, ix->refs[i].outside_first,
				    OBJ_REF_DELTA);
}

/* Visits the deltas of all sound entries, until no more entries are sound. */
static void visit_sound(struct cycle_check *c)
{
	while (c->at < c->sound_nr) {
		uint32_t entry_nr = c->sound[c->at++];
		uint32_t group = c->groups[entry_nr];

		note_deltas(c, c->ix->entries[entry_nr].first_child,
			    OBJ_OFS_DELTA);
		if (!--c->doubtful[group])
			note_ref_deltas(c, group);
	}
}

/* Returns the offset of the first entry that is not sound. */
static uint64_t first_unsound(const struct cycle_check *c)
{
	const struct pack_indexer *ix = c->ix;
	uint32_t *counts = c->doubtful;
	size_t i = 0;

	memset(counts, 0, ix->nr * sizeof(*counts));
	for (size_t s = 0; s < c->sound_nr; s++)
		counts[c->sound[s]]++;
	while (i + 1 < ix->nr && counts[i])
		i++;
	return ix->entries[i].offset;
}

int indexer_refuse_cycles(const struct pack_indexer *ix, struct error *err)
{
	struct cycle_check c = {0};
	int ret = 0;

	if (!is_ambiguous(ix))
		return 0;
	if (init(&c, ix) < 0) {
		ret = error_nomem(err);
	} else {
		note_roots(&c);
		visit_sound(&c);
		if (c.sound_nr < ix->nr)
			ret = indexer_corrupt(ix, first_unsound(&c),
					      "delta chain is a cycle", err);
	}
	release(&c);
	return ret;
}
