/* SPDX-License-Identifier: MIT */
/*
 * Sets of islands, each stored once and named by a number: very many objects
 * share few sets, because everything up to the point where two forks part is
 * in the same islands.
 *
 * Set 0 is empty. A set takes an eighth of a byte for each island; unions that
 * come again (as nearly all do) are remembered. One writer; once nobody adds
 * to it, threads may ask together.
 */
#ifndef ISLANDS_SETS_H
#define ISLANDS_SETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ISLAND_SET_EMPTY UINT32_C(0)

struct island_union {
	uint32_t a, b; /* a < b */
	uint32_t of;
};

struct island_sets {
	uint32_t island_nr;
	size_t word_nr;  /* words of each set */
	uint64_t *words; /* owned: set s has [s * word_nr, (s + 1) * word_nr) */
	uint32_t nr;     /* sets */
	size_t alloc;    /* words allocated */
	uint32_t *table; /* owned: by hash, number of a set, 0: free */
	size_t table_nr; /* a power of two */
	struct island_union *unions; /* owned: the last of each hash */
};

/* Only the empty set of `island_nr` islands. 0 or ERR_NOMEM; release always. */
int island_sets_init(struct island_sets *sets, uint32_t island_nr);
void island_sets_release(struct island_sets *sets);

/* *set becomes the set of one island, < island_nr. 0 or ERR_NOMEM. */
int island_sets_single(uint32_t *set, struct island_sets *sets,
		       uint32_t island);

/* *set becomes the union of itself and `other`. 0 or ERR_NOMEM. */
int island_sets_add(uint32_t *set, struct island_sets *sets, uint32_t other);

bool island_sets_has(const struct island_sets *sets, uint32_t set,
		     uint32_t island);

/* Whether every island of `sub` is in `set`. */
bool island_sets_contains(const struct island_sets *sets, uint32_t set,
			  uint32_t sub);

/* Number of islands in a set. */
uint32_t island_sets_count(const struct island_sets *sets, uint32_t set);

#endif
