/* SPDX-License-Identifier: MIT */
/*
 * Tells whether a commit has an ancestor in a given set of commits, the
 * targets. upload-pack uses this module to end a negotiation ("ready"). With
 * uploadpack.allowReachableSHA1InWant, it also uses the module to check wants.
 *
 * Targets are only added, never removed. So a commit that reaches a target is
 * not walked again. A commit that reaches no target is walked again after a
 * target was added. Let g be the smallest generation number of a target. The
 * walk stops at commits with a generation number of g or less, because their
 * ancestors include no target. If generation numbers are not known, and
 * `ignores_dates` is false, the walk stops at commits older than the oldest
 * target. In this case, wrong dates can make the answer "no" although a path
 * exists.
 *
 * For use by one thread, like the history.
 */
#ifndef WALK_REACH_H
#define WALK_REACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "walk/history.h"

struct reach {
	struct history *h; /* borrowed */
	/*
	 * owned array, indexed by commit_nr: whether the commit reaches a
	 * target, as far as known; the values are in reach.c
	 */
	uint32_t *states;
	size_t state_alloc;
	/*
	 * owned: the path on which the depth-first search is now: its commits,
	 * each with the index of the next parent to try
	 */
	uint32_t *stack;
	size_t stack_alloc;
	/*
	 * number of the current round; a new round begins when a target is
	 * added
	 */
	uint32_t round;
	/*
	 * smallest generation number of the targets; 0: the generation number
	 * of some target is not known
	 */
	uint32_t min_generation;
	/* date of the oldest target; seconds since 1970 */
	uint64_t min_date;
	size_t target_nr;
	/*
	 * May be set by the caller. true: the walk never stops at a commit
	 * because of its date. false: if generation numbers are not known, the
	 * walk stops at commits that are older than all targets.
	 */
	bool ignores_dates;
	/*
	 * May be set by the caller. true: a missing commit is an error
	 * (ERR_MISSING). false: a missing commit reaches no target.
	 */
	bool needs_all;
};

void reach_init(struct reach *r, struct history *h);
void reach_release(struct reach *r);

/* Adds a target. Returns 0 or a negative error code. */
int reach_add_target(struct reach *r, uint32_t commit_nr, struct error *err);

/*
 * Returns 1 if each of `nr` commits is a target or has a target among its
 * ancestors, 0 if not, or a negative error code. A missing commit reaches
 * nothing (but see needs_all). The time is proportional to the number of
 * commits that are newer than the oldest target and were not walked before.
 */
int reach_all(struct reach *r, const uint32_t *commits, size_t nr,
	      struct error *err);

#endif
