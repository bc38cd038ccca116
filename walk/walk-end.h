/* SPDX-License-Identifier: MIT */
/*
 * Decides when a walk by date can end.
 *
 * The walk takes commits from a queue, newest first, and selects commits. It
 * marks commits as uninteresting if haves reach them. When all queued commits
 * are uninteresting, the walk selects no further commit. A selected commit may
 * still become uninteresting, if a queued commit reaches it. The walk can end
 * when no queued commit can reach a selected commit.
 *
 * Without generation numbers, this is often unknown until the queue is empty. A
 * walk that need not be exact ends earlier: after a few commits in a row that
 * are older than the selected ones (walk_end_is_settled()).
 */
#ifndef WALK_WALK_END_H
#define WALK_WALK_END_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/heap.h"
#include "walk/history.h"

#define WALK_END_BELOW_MAX 8

struct walk_end {
	const struct history *h; /* borrowed */
	/*
	 * borrowed: the queue; each key is a date, each value a commit_nr. All
	 * queued commits are parsed
	 */
	const struct heap *queue;
	/* number of queued commits that are not uninteresting */
	size_t interesting_nr;
	size_t selected_nr; /* number of calls of walk_end_select() */
	/* the commit that was selected last; valid if selected_nr > 0 */
	uint32_t selected;
	/* smallest generation number of the selected commits */
	uint32_t lowest;
	/* initial value of `slop` */
	int slop_max;
	/* see walk_end_is_settled() */
	int slop;
	/*
	 * true: all queued commits are uninteresting, so the walk may soon end.
	 * The following fields are valid only then
	 */
	bool is_ending;
	/*
	 * the value of h->lacks_generations when threat_nr was counted. If
	 * h->lacks_generations changes, threat_nr must be counted again
	 */
	bool lacks_generations;
	/* number of queued commits that may reach a selected commit */
	size_t threat_nr;
	/*
	 * the parents of the selected commit, if there is only one selected
	 * commit, and if it has at most WALK_END_BELOW_MAX parents
	 */
	uint32_t below[WALK_END_BELOW_MAX];
	uint32_t below_nr;
};

/*
 * Initialises *e for a walk with an empty queue. `slop` (at least 1) is used
 * by walk_end_is_settled(). *e owns no memory.
 */
static inline void walk_end_init(struct walk_end *e, const struct history *h,
				 const struct heap *queue, int slop)
{
	*e = (struct walk_end){
		.h = h,
		.queue = queue,
		.lowest = HISTORY_GENERATION_UNKNOWN,
		.slop_max = slop,
		.slop = slop,
	};
}

/*
 * Returns whether commit `c`, which is uninteresting, may reach a selected
 * commit. Requires e->is_ending.
 */
bool walk_end_is_threat(const struct walk_end *e, uint32_t c);

/* Call this after commit `c` was added to the queue. */
static inline void walk_end_enter(struct walk_end *e, uint32_t c,
				  bool is_interesting)
{
	e->interesting_nr += is_interesting;
	if (e->is_ending && walk_end_is_threat(e, c))
		e->threat_nr++;
}

/* Call this after commit `c` was removed from the queue. */
static inline void walk_end_leave(struct walk_end *e, uint32_t c,
				  bool is_interesting)
{
	e->interesting_nr -= is_interesting;
	if (e->is_ending && walk_end_is_threat(e, c))
		e->threat_nr--;
}

/* Call this when a queued commit becomes uninteresting. */
static inline void walk_end_lose(struct walk_end *e)
{
	e->interesting_nr--;
}

/* Call this when the walk selects commit `c`, which has left the queue. */
static inline void walk_end_select(struct walk_end *e, uint32_t c)
{
	uint32_t generation = e->h->commits[c].generation;

	if (generation < e->lowest)
		e->lowest = generation;
	e->selected = c;
	e->selected_nr++;
}

/*
 * Returns whether the walk can end. The walk can end if no commit in the queue
 * is interesting, and no commit in the queue can reach a selected commit.
 *
 * If `exact` is false, the walk can also end if all queued commits are
 * uninteresting and older than `date`, at `slop` calls of this function in a
 * row. One such call is not enough, because dates may be wrong: an older commit
 * may still reach a selected commit. `date` is the date of a selected commit,
 * in seconds since 1970.
 *
 * O(1), except that some calls count e->threat_nr: O(length of the queue). The
 * queue may be empty; then the walk can end.
 */
bool walk_end_is_settled(struct walk_end *e, uint64_t date, bool exact);

#endif
