/* SPDX-License-Identifier: MIT */
/* Chooses the packs of a geometric repack. */
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/sort.h"
#include "repack/geometric.h"
#include "repack/rollup.h"

/*
 * Returns whether `large` (a number of objects) is at least `factor` times
 * `small`.
 */
static bool is_step(uint64_t large, uint64_t small, uint64_t factor)
{
	return !small || factor <= large / small;
}

size_t geometric_split(const uint32_t *counts, size_t nr, uint64_t factor)
{
	size_t split = nr ? nr - 1 : 0;
	uint64_t sum = 0;

	/*
	 * Find the longest geometric progression at the end of the list of
	 * counts.
	 */
	while (split && is_step(counts[split], counts[split - 1], factor))
		split--;
	if (!split)
		return 0;
	/*
	 * The first pack of the progression has less than `factor` times as
	 * many objects as the pack before it. So merge this first pack, too.
	 */
	split++;
	for (size_t i = 0; i < split; i++)
		sum += counts[i];
	/*
	 * Merge further packs until the next pack has at least `factor` times
	 * as many objects as the new pack.
	 */
	while (split < nr && !is_step(counts[split], sum, factor))
		sum += counts[split++];
	return split;
}

/*
 * Returns whether the objects of a pack may go into the new pack. Objects of an
 * alternate's pack may go into the new pack unless `local` is set; the
 * alternate's pack is never removed.
 */
static bool is_candidate(const struct pack *pack, const struct old_packs *old,
			 bool local)
{
	if (pack->is_cruft)
		return false;
	return pack->is_local ? old_packs_has(old, pack)
			      : !local && !pack->is_kept;
}

/*
 * List the packs that may be merged: the key of an item is the pack's number of
 * objects, and the value is the pack's index in odb->packs. If `is_promisor`,
 * list promisor packs, otherwise all other packs. Returns the number of packs
 * in the list.
 */
static size_t list_candidates(struct sort_item *candidates,
			      const struct old_packs *old,
			      const struct odb *odb, bool is_promisor,
			      bool local)
{
	size_t nr = 0;

	for (uint32_t i = 0; i < odb->pack_nr; i++) {
		const struct pack *pack = odb->packs[i].pack;

		if (pack->is_promisor == is_promisor &&
		    is_candidate(pack, old, local))
			candidates[nr++] = (struct sort_item){pack->idx.nr, i};
	}
	return nr;
}

/*
 * Add to *chosen the names of the packs that are merged. Sizes are compared as
 * numbers of 32 bits, as in stock Git. Returns 0, ERR_INVALID or ERR_NOMEM.
 */
static int choose(struct strlist *chosen, const struct odb *odb,
		  struct sort_item *candidates, size_t nr, uint32_t *counts,
		  uint64_t factor, struct error *err)
{
	size_t split;
	int ret = sort_items(candidates, nr);

	if (ret < 0)
		return ret;
	for (size_t i = 0; i < nr; i++)
		counts[i] = (uint32_t)candidates[i].key;
	if (nr > 1 && counts[nr - 2] &&
	    (uint32_t)factor > UINT32_MAX / counts[nr - 2])
		return error_set(
			err, ERR_INVALID,
			"pack %s too large to consider in geometric "
			"progression",
			odb->packs[candidates[nr - 2].value].pack->name);
	split = geometric_split(counts, nr, factor);
	for (size_t i = 0; i < split && !ret; i++)
		ret = strlist_add(chosen,
				  odb->packs[candidates[i].value].pack->name);
	return ret;
}

int geometric_choose(struct strlist *chosen, struct old_packs *old,
		     const struct odb *odb, uint64_t factor, bool local,
		     struct error *err)
{
	struct sort_item *candidates = mem_alloc(odb->pack_nr,
						 sizeof(*candidates));
	uint32_t *counts = mem_alloc(odb->pack_nr, sizeof(*counts));
	int ret = candidates && counts ? 0 : ERR_NOMEM;

	for (int is_promisor = 0; is_promisor < 2 && !ret; is_promisor++) {
		size_t nr = list_candidates(candidates, old, odb, is_promisor,
					    local);

		ret = choose(chosen, odb, candidates, nr, counts, factor, err);
	}
	if (!ret)
		old_packs_retain(old, chosen);
	free(candidates);
	free(counts);
	return ret == ERR_NOMEM ? error_nomem(err) : ret;
}

int geometric_collect(struct pack_job *job, const struct strlist *chosen,
		      bool removes, struct error *err)
{
	const struct odb *odb = job->walk.odb;
	enum rollup_part *parts = mem_calloc(odb->pack_nr, sizeof(*parts));
	struct rollup_options options = {
		.parts = parts,
		.loose = true,
		.removes = removes,
	};
	int ret;

	if (!parts)
		return error_nomem(err);
	for (uint32_t i = 0; i < odb->pack_nr; i++) {
		const struct pack *pack = odb->packs[i].pack;

		bool is_able = pack->is_local || !job->options->local;

		if (is_able && !pack->is_promisor &&
		    pack_names_has(chosen, pack->name))
			parts[i] = ROLLUP_INCLUDE;
		else if (!pack->is_local)
			parts[i] = ROLLUP_SUFFICE;
		else if (!pack->is_cruft)
			parts[i] = ROLLUP_EXCLUDE;
	}
	ret = rollup_add(job, &options, err);
	free(parts);
	return ret;
}
