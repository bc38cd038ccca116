/* SPDX-License-Identifier: MIT */
/* Finds the pseudo-merges that a query can use, and ORs their objects. */
#include <string.h>

#include "base/mem.h"
#include "bitmap/pseudo-merge.h"

void pseudo_fill_init(struct pseudo_fill *pf, const struct pseudo_merges *pm)
{
	*pf = (struct pseudo_fill){.pm = pm};
}

void pseudo_fill_release(struct pseudo_fill *pf)
{
	bitset_release(&pf->noted);
	bitset_release(&pf->known);
	free(pf->candidates);
	free(pf->served);
	memset(pf, 0, sizeof(*pf));
}

/*
 * State of the callback that is called for each pseudo-merge that contains the
 * commit at `bit_pos`.
 */
struct noting {
	struct pseudo_fill *pf;
	uint32_t bit_pos;
};

/*
 * Makes room in the sets pf->noted and pf->known, and adds the commit
 * n->bit_pos to pf->noted. Called only for a commit that is in a pseudo-merge.
 * Most requests have no such commit, so the sets take no memory then. Returns 0
 * or ERR_NOMEM.
 */
static int note_in(struct noting *n)
{
	struct pseudo_fill *pf = n->pf;

	if (bitset_grow(&pf->noted, pf->pm->object_nr) < 0 ||
	    bitset_grow(&pf->known, pf->pm->nr) < 0)
		return ERR_NOMEM;
	bitset_set(&pf->noted, n->bit_pos);
	return 0;
}

static int add_candidate(void *ctx, uint32_t nr)
{
	struct noting *n = ctx;
	struct pseudo_fill *pf = n->pf;

	if (note_in(n) < 0)
		return ERR_NOMEM;
	if (bitset_test(&pf->known, nr))
		return 0;
	if (mem_grow(&pf->candidates, &pf->alloc, pf->nr + 1,
		     sizeof(*pf->candidates)) < 0)
		return ERR_NOMEM;
	bitset_set(&pf->known, nr);
	pf->candidates[pf->nr++] = (struct pseudo_candidate){nr, UINT32_MAX};
	return 0;
}

int pseudo_fill_note(struct pseudo_fill *pf, uint32_t bit_pos,
		     struct error *err)
{
	struct noting n = {pf, bit_pos};
	int ret;

	if (!pf->pm->nr)
		return 0;
	ret = pseudo_merges_each_of(pf->pm, bit_pos, add_candidate, &n, err);
	return ret == ERR_NOMEM ? error_nomem(err) : ret;
}

static bool is_reached(const struct pseudo_fill *pf,
		       const struct bitset *reached, size_t bit)
{
	return bitset_get(&pf->noted, bit) || bitset_get(reached, bit);
}

/*
 * Returns whether a query reaches all commits of a pseudo-merge. If not, sets
 * *lacking to one of the commits that the query does not reach. `reached` has
 * the reached objects; pf->noted has further commits that are reached.
 */
static bool serves(const struct pseudo_fill *pf, const struct bitset *reached,
		   const struct ewah_view *commits, uint32_t *lacking)
{
	struct ewah_bit_iter it;
	size_t bit;

	ewah_bit_iter_init(&it, commits);
	while (ewah_bit_iter_next(&it, &bit))
		if (!is_reached(pf, reached, bit)) {
			*lacking = (uint32_t)bit;
			return false;
		}
	return true;
}

/*
 * Uses a candidate (a pseudo-merge) if the query reaches all its commits: ORs
 * its objects into `reached`. Returns 1 if the candidate was used, 0 if not, or
 * a negative error code.
 */
static int try_candidate(struct pseudo_fill *pf, struct bitset *reached,
			 struct pseudo_candidate *candidate, struct error *err)
{
	struct pseudo_merge merge;
	int ret;

	if (candidate->lacking != UINT32_MAX &&
	    !is_reached(pf, reached, candidate->lacking))
		return 0;
	ret = pseudo_merges_view(&merge, pf->pm, candidate->nr, err);
	if (ret < 0)
		return ret;
	if (!serves(pf, reached, &merge.commits, &candidate->lacking))
		return 0;
	if (mem_grow(&pf->served, &pf->served_alloc, (size_t)pf->used + 1,
		     sizeof(*pf->served)) < 0)
		return error_nomem(err);
	ewah_or_into(reached, &merge.objects);
	pf->served[pf->used++] = candidate->nr;
	return 1;
}

int pseudo_fill_run(struct pseudo_fill *pf, struct bitset *reached,
		    struct error *err)
{
	size_t before;

	/*
	 * A candidate can be used only if `reached` has all of its commits.
	 * ORing the bitmap of one pseudo-merge into `reached` may add commits
	 * that `reached` lacked for another candidate. So all candidates are
	 * tried again until none can be used.
	 */
	do {
		size_t left = 0;

		before = pf->nr;
		for (size_t i = 0; i < before; i++) {
			struct pseudo_candidate *c = &pf->candidates[i];
			int ret = try_candidate(pf, reached, c, err);

			if (ret < 0)
				return ret;
			if (!ret)
				pf->candidates[left++] = *c;
		}
		pf->nr = left;
	} while (pf->nr && pf->nr < before);
	return 0;
}
