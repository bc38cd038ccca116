/* SPDX-License-Identifier: MIT */
/*
 * Histories in memory, for tests of walks. No repository is needed, because all
 * commits are marked as parsed. commit_nr 0 is the oldest commit. Include this
 * header after cmocka.h.
 */
#ifndef T_UNIT_DAG_H
#define T_UNIT_DAG_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "t/unit/random.h"
#include "walk/history.h"

struct dag {
	/*
	 * Empty object space to which the history `h` refers. Walks of these
	 * histories never read the space.
	 */
	struct objspace space;
	struct history h;
};

static inline void dag_init(struct dag *d)
{
	memset(d, 0, sizeof(*d));
	d->h.space = &d->space;
}

static inline void dag_release(struct dag *d)
{
	free(d->h.commits);
	free(d->h.parents);
}

/*
 * Add a commit. If `generations` is true, compute its generation number.
 * Returns its commit_nr.
 */
static inline uint32_t dag_add(struct dag *d, uint64_t date, bool generations,
			       const uint32_t *parents, uint32_t nr)
{
	struct history *h = &d->h;
	struct history_commit c = {
		.date = date,
		.first_parent = (uint32_t)h->parent_nr,
		.parent_nr = nr,
		.generation = generations ? 1 : HISTORY_GENERATION_UNKNOWN,
		.parsed = true,
	};

	assert_int_equal(mem_grow(&h->commits, &h->alloc, h->nr + 1, sizeof(c)),
			 0);
	assert_int_equal(mem_grow(&h->parents, &h->parent_alloc,
				  h->parent_nr + nr + 1, sizeof(*parents)),
			 0);
	for (uint32_t i = 0; i < nr; i++) {
		h->parents[h->parent_nr++] = parents[i];
		if (generations &&
		    h->commits[parents[i]].generation >= c.generation)
			c.generation = h->commits[parents[i]].generation + 1;
	}
	h->commits[h->nr] = c;
	return (uint32_t)h->nr++;
}

/*
 * Make a random history of `nr` commits, with some roots and some merges. If
 * `generations` is true, compute generation numbers.
 */
static inline void dag_random(struct dag *d, uint32_t nr, bool generations,
			      uint64_t *seed)
{
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t parents[3], n = 0;
		uint32_t want = (uint32_t)(random_next(seed) % 8);

		want = want == 0 ? 0 : want == 1 ? 3 : want < 4 ? 2 : 1;
		for (uint32_t k = 0; k < want && i; k++) {
			uint32_t back = (uint32_t)(random_next(seed) % 6) + 1;

			if (back <= i)
				parents[n++] = i - back;
		}
		dag_add(d, 1000 + i, generations, parents, n);
	}
}

/*
 * Set seen[c] for `from` and all its ancestors. Tests compare the fast walks
 * with this slow walk.
 */
static inline void dag_ancestors(const struct dag *d, bool *seen, uint32_t from)
{
	if (seen[from])
		return;
	seen[from] = true;
	for (uint32_t i = 0; i < d->h.commits[from].parent_nr; i++)
		dag_ancestors(d, seen, history_parents(&d->h, from)[i]);
}

#endif
