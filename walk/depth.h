/* SPDX-License-Identifier: MIT */
/*
 * Where a shallow history ends: which commits a receiver has to be told are
 * without parents ("shallow"), and which are complete.
 *
 *	depth 2 from d:      a---b---c---d      shallow: c    inside: d
 *	not b:                                  shallow: c    inside: d
 *
 * Inside are the commits of the request that keep all their parents; shallow
 * are those of the request that lose some. One thread.
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
	uint32_t *shallow; /* owned: commit_nr, each once */
	size_t shallow_nr, shallow_alloc;
	struct bitset inside; /* by commit_nr */
};

#define DEPTH_RESULT_INIT                                                      \
	{                                                                      \
		NULL, 0, 0, BITSET_INIT                                        \
	}

void depth_result_release(struct depth_result *result);

/*
 * Commits whose shortest way from one of `from` has less than `depth` (>= 1)
 * commits on it are inside, those with exactly `depth` are shallow.
 * DEPTH_INFINITE: only the commits that h->shallow cuts are shallow. Reads
 * the commits that are inside. *result must be initialised and empty.
 */
int depth_by_distance(struct depth_result *result, struct history *h,
		      const uint32_t *from, size_t nr, uint32_t depth,
		      struct error *err);

/*
 * Of what depth_by_distance() found from a receiver's `boundary`: shallow
 * commits that `from` reaches without going beyond that boundary are not
 * shallow after all. The receiver has their parents, by another way; cut there
 * it would lose them. (Not those that h->shallow cuts.) Reads the commits
 * between the two, if there are any shallow ones. 0 or negative.
 */
int depth_keep_known(struct depth_result *result, struct history *h,
		     const uint32_t *from, size_t nr, const uint32_t *boundary,
		     size_t boundary_nr, struct error *err);

/* What cuts a history other than its depth. */
struct depth_limits {
	const uint32_t *nots; /* these and their ancestors are left out */
	size_t not_nr;
	bool has_since;
	uint64_t since; /* older commits are left out; seconds */
};

/*
 * What is left between `from` and the cut: inside or, with a parent that is
 * left out (or cut by h->shallow), shallow. What is only behind shallow commits
 * is neither, as these lose all parents. (Stock Git calls some of it shallow,
 * too; a client that was told so of a commit that it does not get cannot deepen
 * its history any more: "error in object: unshallow <id>".) Nothing at all may
 * be left. 0 or negative.
 */
int depth_by_limits(struct depth_result *result, struct history *h,
		    const uint32_t *from, size_t nr,
		    const struct depth_limits *limits, struct error *err);

#endif
