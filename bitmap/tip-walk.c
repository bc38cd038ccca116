/* SPDX-License-Identifier: MIT */
/* Counts, for each tip, the commits that a request for it alone would walk. */
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "bitmap/tip-select.h"

/* Length in 64-bit words of a set that has one bit for each tip of a pass. */
#define PASS_WORDS 4
#define TIPS_PER_PASS (PASS_WORDS * 64)

/*
 * What a pass over the history knows about a commit. One pass counts the
 * commits of up to TIPS_PER_PASS requests, each for one tip. Bit i of each
 * array is about the i-th of these tips.
 */
struct tip_walk_mark {
	/* bit i: the i-th tip reaches the commit */
	uint64_t reached[PASS_WORDS];
	/*
	 * bit i: the commit is in the bitmap of a commit that the i-th tip
	 * reaches
	 */
	uint64_t covered[PASS_WORDS];
};

/*
 * Fills in walk->parents and walk->first_parent. In both arrays, a commit is
 * identified by its rank: its place in walk->commits, counted from the end. So
 * the rank of a commit is smaller than the ranks of its parents. Returns 0 or
 * ERR_NOMEM.
 */
static int list_parents(struct tip_walk *walk)
{
	const struct history *h = walk->history;
	size_t nr = 0;

	walk->first_parent = mem_alloc(walk->commit_nr + 1,
				       sizeof(*walk->first_parent));
	walk->parents = mem_alloc(h->parent_nr, sizeof(*walk->parents));
	if (!walk->first_parent || !walk->parents)
		return ERR_NOMEM;
	for (size_t rank = 0; rank < walk->commit_nr; rank++) {
		uint32_t c = walk->commits[walk->commit_nr - 1 - rank];
		const uint32_t *parents = history_parents(h, c);

		walk->first_parent[rank] = (uint32_t)nr;
		for (uint32_t i = 0; i < h->commits[c].parent_nr; i++)
			walk->parents[nr++] = walk->rank[parents[i]];
	}
	walk->first_parent[walk->commit_nr] = (uint32_t)nr;
	return 0;
}

int tip_walk_init(struct tip_walk *walk, const struct history *history,
		  const uint32_t *commits, size_t commit_nr,
		  const uint8_t *has_bitmap)
{
	*walk = (struct tip_walk){
		.history = history,
		.commits = commits,
		.commit_nr = commit_nr,
		.has_bitmap = has_bitmap,
		.rank = mem_alloc(history->nr, sizeof(*walk->rank)),
		.marks = mem_calloc(commit_nr, sizeof(*walk->marks)),
	};
	if (!walk->rank || !walk->marks ||
	    bitset_init(&walk->pending, commit_nr) < 0)
		return ERR_NOMEM;
	for (size_t i = 0; i < commit_nr; i++)
		walk->rank[commits[i]] = (uint32_t)(commit_nr - 1 - i);
	return list_parents(walk);
}

void tip_walk_release(struct tip_walk *walk)
{
	free(walk->rank);
	free(walk->first_parent);
	free(walk->parents);
	free(walk->marks);
	bitset_release(&walk->pending);
	memset(walk, 0, sizeof(*walk));
}

/*
 * For each of many tips, a pass over the history counts how many commits a
 * request for this tip alone would walk. Returns whether a request for at least
 * one of these tips would walk the commit of *mark. Such a request walks the
 * commit if the tip reaches the commit, and the commit is in no bitmap that the
 * request uses.
 */
static bool is_open(const struct tip_walk_mark *mark)
{
	uint64_t open = 0;

	for (int i = 0; i < PASS_WORDS; i++)
		open |= mark->reached[i] & ~mark->covered[i];
	return open;
}

/* Adds a tip to a pass. */
static void add_tip(struct tip_walk *walk, uint32_t tip, size_t i)
{
	uint32_t rank = walk->rank[tip];
	struct tip_walk_mark *mark = &walk->marks[rank];

	walk->open_nr += !is_open(mark);
	mark->reached[i / 64] |= UINT64_C(1) << (i % 64);
	bitset_set(&walk->pending, rank);
}

/*
 * Merges the mark of a commit into the mark of its parent, the commit with the
 * rank `rank`. Adds the parent to the commits that the pass must visit.
 */
static void add_child(struct tip_walk *walk, uint32_t rank,
		      const struct tip_walk_mark *child)
{
	struct tip_walk_mark *mark = &walk->marks[rank];
	bool was_open = is_open(mark);

	for (int i = 0; i < PASS_WORDS; i++) {
		mark->reached[i] |= child->reached[i];
		mark->covered[i] |= child->covered[i];
	}
	bitset_set(&walk->pending, rank);
	walk->open_nr += is_open(mark);
	walk->open_nr -= was_open;
}

/*
 * Removes the commit with this rank from the pending ones, clears its mark, and
 * returns the mark.
 */
static struct tip_walk_mark take(struct tip_walk *walk, size_t rank)
{
	struct tip_walk_mark mark = walk->marks[rank];

	walk->marks[rank] = (struct tip_walk_mark){{0}, {0}};
	bitset_unset(&walk->pending, rank);
	walk->open_nr -= is_open(&mark);
	return mark;
}

static void count(uint32_t *walked, const struct tip_walk_mark *mark)
{
	for (int i = 0; i < PASS_WORDS; i++)
		for (uint64_t left = mark->reached[i] & ~mark->covered[i]; left;
		     left &= left - 1)
			walked[64 * i + __builtin_ctzll(left)]++;
}

static void visit(struct tip_walk *walk, uint32_t *walked, size_t rank)
{
	uint32_t c = walk->commits[walk->commit_nr - 1 - rank];
	struct tip_walk_mark mark = take(walk, rank);

	if (walk->has_bitmap[c])
		memcpy(mark.covered, mark.reached, sizeof(mark.covered));
	else
		count(walked, &mark);
	for (uint32_t i = walk->first_parent[rank];
	     i < walk->first_parent[rank + 1]; i++)
		add_child(walk, walk->parents[i], &mark);
}

/*
 * Sets walked[i] to the number of commits that a request for tips[i] walks.
 * `nr` is at most TIPS_PER_PASS.
 */
static void pass(struct tip_walk *walk, uint32_t *walked, const uint32_t *tips,
		 size_t nr)
{
	size_t rank;

	for (size_t i = 0; i < nr; i++)
		add_tip(walk, tips[i], i);
	for (rank = bitset_next(&walk->pending, 0); walk->open_nr;
	     rank = bitset_next(&walk->pending, rank + 1))
		visit(walk, walked, rank);
	for (; rank < walk->commit_nr;
	     rank = bitset_next(&walk->pending, rank + 1))
		take(walk, rank);
}

void tip_walk_count(struct tip_walk *walk, uint32_t *walked,
		    const uint32_t *tips, size_t nr)
{
	memset(walked, 0, nr * sizeof(*walked));
	for (size_t i = 0; i < nr; i += TIPS_PER_PASS)
		pass(walk, walked + i, tips + i,
		     nr - i < TIPS_PER_PASS ? nr - i : TIPS_PER_PASS);
}
