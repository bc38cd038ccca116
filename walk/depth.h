/* SPDX-License-Identifier: MIT */
/*
 * Finds the shallow boundary of a request. Each commit that the client gets is
 * either "shallow" (the client must treat the commit as one without parents) or
 * "inside" (the client also gets its parents).
 *
 *	depth 2 from d:       a---b---c---d     shallow: c    inside: d
 *	from d, without b:    a---b---c---d     shallow: c    inside: d
 *
 * A commit is shallow if the client lacks at least one of its parents. For use
 * by one thread.
 */
#ifndef WALK_DEPTH_H
#define WALK_DEPTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "ewah/bitset.h"
#include "walk/history.h"

#define DEPTH_INFINITE UINT32_MAX

struct depth_result {
	/* owned: commit_nr of the shallow commits, each once */
	uint32_t *shallow;
	size_t shallow_nr, shallow_alloc;
	struct bitset inside; /* indexed by commit_nr */
};

#define DEPTH_RESULT_INIT                                                      \
	{                                                                      \
		NULL, 0, 0, BITSET_INIT                                        \
	}

void depth_result_release(struct depth_result *result);

/*
 * Computes the shallow boundary by depth. The distance of a commit is the
 * number of commits on the shortest path to it from a commit of `from`, both
 * ends included. A commit with a distance less than `depth` (>= 1) is inside:
 * it keeps its parents. A commit with a distance of exactly `depth` is shallow.
 * With DEPTH_INFINITE, only commits of h->shallow are shallow. All commits
 * inside are parsed. *result must be initialised and empty. Returns 0 or a
 * negative error code.
 */
int depth_by_distance(struct depth_result *result, struct history *h,
		      const uint32_t *from, size_t nr, uint32_t depth,
		      struct error *err);

/*
 * Finds the distance of the nearest commit of `targets`, counted like in
 * depth_by_distance(). The walk does not visit the parents of commits in
 * h->shallow, and stops at the first target. Returns 0 if a target was found, 1
 * if `from` reaches none (then *distance is 0), or a negative error code.
 */
int depth_find_nearest(uint32_t *distance, struct history *h,
		       const uint32_t *from, size_t nr, const uint32_t *targets,
		       size_t target_nr, struct error *err);

/* Limits of a history by commits or by date (deepen-not, deepen-since). */
struct depth_limits {
	/*
	 * commits (commit_nr) that the request leaves out, with all their
	 * ancestors
	 */
	const uint32_t *nots;
	size_t not_nr;
	bool has_since;
	/*
	 * Date in seconds since 1970. The request leaves out commits with an
	 * older date.
	 */
	uint64_t since;
};

/*
 * Computes the shallow boundary by limits. The walk starts at `from`, and
 * visits no commit that the limits leave out. A visited commit is shallow if
 * the limits leave out one of its parents, or if it is in h->shallow. Every
 * other visited commit keeps its parents, and is in the set result->inside.
 *
 * The walk does not go from a shallow commit to its parents. So it finds no
 * shallow commits that are reachable only through other shallow commits. Stock
 * Git also lists some of these, although the client does not get them. If a
 * client gets a "shallow" line for a commit that it lacks, it cannot deepen its
 * history later: it fails with "error in object: unshallow <id>".
 *
 * The result may be empty. Returns 0 or a negative error code.
 */
int depth_by_limits(struct depth_result *result, struct history *h,
		    const uint32_t *from, size_t nr,
		    const struct depth_limits *limits, struct error *err);

#endif
