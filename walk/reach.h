/* SPDX-License-Identifier: MIT */
/*
 * Whether commits have one of a set of commits among their ancestors: the
 * question behind "ready" in a negotiation and behind
 * uploadpack.allowReachableSHA1InWant.
 *
 * Targets are only ever added. A commit found to reach one is never looked at
 * again; those that did not are looked at again after targets were added.
 * Commits below the lowest target's generation, or where generations are not
 * known older than the oldest target, are not walked: where clocks were wrong
 * the answer may be "no" though a path exists, unless `ignores_dates` is set.
 *
 * One thread, like the history below it.
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
	uint32_t *states;  /* owned, by commit_nr: see reach.c */
	size_t state_alloc;
	uint32_t *stack; /* owned: path of the walk, and for each commit of
			    it the next parent to try */
	size_t stack_alloc;
	uint32_t round;          /* counts changes of the set of targets */
	uint32_t min_generation; /* 0: some target's generation is not known */
	uint64_t min_date;       /* seconds since 1970 */
	size_t target_nr;
	bool ignores_dates; /* may be set: the walk goes on where commits are
			       older than the targets and generations not known
			     */
	bool needs_all;     /* may be set: a missing commit is ERR_MISSING */
};

void reach_init(struct reach *r, struct history *h);
void reach_release(struct reach *r);

/* Add a target. 0 or negative. */
int reach_add_target(struct reach *r, uint32_t commit_nr, struct error *err);

/*
 * Whether each of `nr` commits is a target or has one among its ancestors. 1,
 * 0, or negative. A missing commit reaches nothing, but see needs_all.
 * O(commits newer than the oldest target), less what was found before.
 */
int reach_all(struct reach *r, const uint32_t *commits, size_t nr,
	      struct error *err);

#endif
