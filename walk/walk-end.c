/* SPDX-License-Identifier: MIT */
/* Counts the queued commits that may still change the result of a walk. */
#include "walk/walk-end.h"

/*
 * A commit reaches only commits with smaller generation numbers. Let g be the
 * smallest generation number of the selected commits. A commit whose generation
 * number is known, and is not larger than g, reaches no selected commit.
 *
 * Generation numbers may be unknown. For this case, there is a second test: if
 * only one commit is selected, the parents of this commit cannot reach it.
 */
bool walk_end_is_threat(const struct walk_end *e, uint32_t c)
{
	uint32_t generation = e->h->commits[c].generation;

	for (uint32_t i = 0; i < e->below_nr; i++)
		if (e->below[i] == c)
			return false;
	return generation == HISTORY_GENERATION_UNKNOWN ||
	       generation > e->lowest || e->lacks_generations;
}

/*
 * Called when all queued commits are uninteresting. Sets the fields of *e that
 * are valid if e->is_ending is true. From now on, the walk selects no commits.
 */
static void begin(struct walk_end *e)
{
	const struct history *h = e->h;

	e->is_ending = true;
	e->lacks_generations = h->lacks_generations;
	e->below_nr = 0;
	if (e->selected_nr == 1 &&
	    h->commits[e->selected].parent_nr <= WALK_END_BELOW_MAX) {
		e->below_nr = h->commits[e->selected].parent_nr;
		for (uint32_t i = 0; i < e->below_nr; i++)
			e->below[i] = history_parents(h, e->selected)[i];
	}
	e->threat_nr = 0;
	for (size_t i = 0; i < e->queue->nr; i++)
		e->threat_nr += walk_end_is_threat(e, e->queue->items[i].value);
}

bool walk_end_is_settled(struct walk_end *e, uint64_t date, bool exact)
{
	if (e->interesting_nr) {
		e->is_ending = false;
		e->slop = e->slop_max;
		return false;
	}
	if (!e->is_ending || e->lacks_generations != e->h->lacks_generations)
		begin(e);
	if (!e->threat_nr || !e->selected_nr)
		return true;
	if (exact)
		return false;
	if (e->queue->items[0].key >= date) {
		e->slop = e->slop_max;
		return false;
	}
	return --e->slop <= 0;
}
