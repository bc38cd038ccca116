/* SPDX-License-Identifier: MIT */
/*
 * Which commits: those reachable from wants but not from haves.
 *
 * A walk by committer date, newest first. Commits reached from haves are
 * painted uninteresting, also behind commits seen before. It ends when no
 * interesting commit is queued and what is queued cannot reach a result: with a
 * commit-graph when it is on generations below the lowest result's, without one
 * at the end of the haves' history. Unless it has to be `exact` it also ends
 * when all that is queued is older than every result (and a little further, for
 * clocks that were wrong).
 */
#ifndef WALK_REVWALK_H
#define WALK_REVWALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "walk/history.h"

struct revwalk_result {
	uint32_t *commits; /* owned: commit_nr, newest first */
	size_t nr, alloc;
	uint32_t *boundary; /* owned: uninteresting parents of `commits`, each
			       once */
	size_t boundary_nr, boundary_alloc;
};

#define REVWALK_RESULT_INIT                                                    \
	{                                                                      \
		NULL, 0, 0, NULL, 0, 0                                         \
	}

void revwalk_result_release(struct revwalk_result *result);

/* Sets of commit_nr to walk from; borrowed. */
struct revwalk_tips {
	const uint32_t *wants;
	size_t want_nr;
	const uint32_t *haves;
	size_t have_nr;
};

/*
 * Walk; *result must be initialised and empty. A missing commit behind wants
 * is ERR_MISSING; one behind haves ends that line of history silently.
 */
int revwalk_run(struct revwalk_result *result, struct history *h,
		const struct revwalk_tips *tips, bool exact, struct error *err);

/*
 * The same, not exact, as long as it takes no more than `limit` commits: 1 when
 * it would, and *result has the commits that seem wanted as far as it went. For
 * who has another way.
 */
int revwalk_within(struct revwalk_result *result, struct history *h,
		   const struct revwalk_tips *tips, size_t limit,
		   struct error *err);

/*
 * Reorder commits so that none comes before one of its parents that is in the
 * array as well: parents first, branch by branch. What the first of `tips`
 * reaches comes first, then what the second adds, and so on, then all others;
 * within that a branch stands together, right before the commit that merged
 * it. *trunk_nr (NULL allowed) is set to the number of commits that belong to
 * the first tip.
 */
int revwalk_parents_first(const struct history *h, uint32_t *commits, size_t nr,
			  const uint32_t *tips, size_t tip_nr, size_t *trunk_nr,
			  struct error *err);

#endif
