/* SPDX-License-Identifier: MIT */
/*
 * Selects the commits that are reachable from the wants, but not from the
 * haves.
 *
 * The walk goes by committer date, newest first. Commits that are reachable
 * from the haves are marked uninteresting, together with all ancestors that the
 * walk has already visited.
 *
 * The walk ends if all queued commits are uninteresting and none of them can
 * reach a result. With a commit-graph, the walk knows this early: as soon as no
 * queued commit has a generation number larger than the smallest generation
 * number of the results. Without generation numbers, the walk continues to the
 * end of the haves' history.
 *
 * If `exact` is false, the walk ends earlier: soon after all queued commits are
 * older than every result. With wrong dates the result may then hold commits
 * that are reachable from the haves.
 */
#ifndef WALK_REVWALK_H
#define WALK_REVWALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "walk/history.h"

struct revwalk_result {
	/* owned: the selected commits (commit_nr), newest first */
	uint32_t *commits;
	size_t nr, alloc;
	/*
	 * owned: the uninteresting parents (commit_nr) of selected commits,
	 * each once
	 */
	uint32_t *boundary;
	size_t boundary_nr, boundary_alloc;
};

#define REVWALK_RESULT_INIT                                                    \
	{                                                                      \
		NULL, 0, 0, NULL, 0, 0                                         \
	}

void revwalk_result_release(struct revwalk_result *result);

/* Tips of a walk over commits: arrays of commit_nr, borrowed. */
struct revwalk_tips {
	const uint32_t *wants;
	size_t want_nr;
	const uint32_t *haves;
	size_t have_nr;
};

/*
 * Selects commits that wants reach and haves do not. *result must be
 * initialised and empty. Returns 0, ERR_MISSING if a commit that wants reach is
 * missing, or another negative error code. If a commit that haves reach is
 * missing, the walk does not continue there.
 */
int revwalk_run(struct revwalk_result *result, struct history *h,
		const struct revwalk_tips *tips, bool exact, struct error *err);

/*
 * Works like revwalk_run() with `exact` false, but visits at most `limit`
 * commits. Returns 0 if the result is complete, 1 if more visits were needed,
 * or a negative error code. If 1 is returned, *result has the commits found so
 * far. A longer walk might find some of these commits uninteresting.
 */
int revwalk_within(struct revwalk_result *result, struct history *h,
		   const struct revwalk_tips *tips, size_t limit,
		   struct error *err);

/*
 * Reorders commits, so that each commit comes after those of its parents that
 * are in the array. The commits that the first of `tips` reaches come first,
 * then those that the second tip adds, and so on. Commits that no tip reaches
 * come last. The commits of a branch stay together, right before the commit
 * that merged the branch. *trunk_nr (may be NULL) is set to the number of
 * commits that the first tip reaches. Returns 0 or ERR_NOMEM.
 */
int revwalk_parents_first(const struct history *h, uint32_t *commits, size_t nr,
			  const uint32_t *tips, size_t tip_nr, size_t *trunk_nr,
			  struct error *err);

#endif
