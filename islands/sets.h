/* SPDX-License-Identifier: MIT */
/*
 * Sets of islands. Each set is stored once and has a number. Very many objects
 * share few sets, because the common history of two forks is in the same
 * islands.
 *
 * Set 0 is empty. A set takes an eighth of a byte for each island. Unions of
 * two sets are cached, as nearly all come again. One thread may add sets. When
 * none are added any more, threads may read them at the same time.
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
	size_t word_nr; /* words of each set */
	/* owned: set s is [s * word_nr, (s + 1) * word_nr) */
	uint64_t *words;
	uint32_t nr;  /* number of sets */
	size_t alloc; /* words allocated */
	/* owned: by hash: number of a set; 0: free */
	uint32_t *table;
	size_t table_nr; /* a power of two */
	/* owned: the last union of each hash */
	struct island_union *unions;
};

/*
 * Start with the empty set of `island_nr` islands. Release in any case. Returns
 * 0 or ERR_NOMEM.
 */
int island_sets_init(struct island_sets *sets, uint32_t island_nr);
void island_sets_release(struct island_sets *sets);

/* Set *set to the set of one island, < island_nr. Returns 0 or ERR_NOMEM. */
int island_sets_single(uint32_t *set, struct island_sets *sets,
		       uint32_t island);

/* Set *set to the union of itself and `other`. Returns 0 or ERR_NOMEM. */
int island_sets_add(uint32_t *set, struct island_sets *sets, uint32_t other);

bool island_sets_has(const struct island_sets *sets, uint32_t set,
		     uint32_t island);

/* Whether every island of `sub` is in `set`. */
bool island_sets_contains(const struct island_sets *sets, uint32_t set,
			  uint32_t sub);

/* The number of islands in a set. */
uint32_t island_sets_count(const struct island_sets *sets, uint32_t set);

#endif
