/* SPDX-License-Identifier: MIT */
/*
 * A table of sets of islands: each set is stored once, and is found by its
 * islands.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "islands/islands.h"

#define TABLE_MIN 1024
#define UNIONS 65536

static uint64_t *words_of(const struct island_sets *sets, uint32_t set)
{
	return sets->words + set * sets->word_nr;
}

/*
 * Mixes a word into a hash by multiplication and shift. No keyed hash is
 * needed: the words are bit masks that this module makes, so an attacker cannot
 * choose words with equal hashes.
 */
static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

static size_t hash_of(const struct island_sets *sets, const uint64_t *words)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < sets->word_nr; i++)
		hash = mix(hash, words[i]);
	return (size_t)hash;
}

int island_sets_init(struct island_sets *sets, uint32_t island_nr)
{
	*sets = (struct island_sets){
		.island_nr = island_nr,
		.word_nr = ((size_t)island_nr + 63) / 64,
		.nr = 1,
		.table_nr = TABLE_MIN,
	};
	sets->words = mem_calloc(sets->word_nr + 1, sizeof(*sets->words));
	sets->alloc = sets->word_nr;
	sets->table = mem_calloc(TABLE_MIN, sizeof(*sets->table));
	sets->unions = mem_calloc(UNIONS, sizeof(*sets->unions));
	return sets->words && sets->table && sets->unions ? 0 : ERR_NOMEM;
}

void island_sets_release(struct island_sets *sets)
{
	free(sets->words);
	free(sets->table);
	free(sets->unions);
	*sets = (struct island_sets){0};
}

/*
 * Returns the slot of a set in the hash table, or a free slot if the table does
 * not have the set.
 */
static size_t find_slot(const struct island_sets *sets, const uint64_t *words)
{
	size_t mask = sets->table_nr - 1;
	size_t slot = hash_of(sets, words) & mask;

	while (sets->table[slot] &&
	       memcmp(words_of(sets, sets->table[slot]), words,
		      sets->word_nr * sizeof(*words)) != 0)
		slot = (slot + 1) & mask;
	return slot;
}

static int grow_table(struct island_sets *sets)
{
	size_t table_nr = sets->table_nr * 2;
	uint32_t *table = mem_calloc(table_nr, sizeof(*table));

	if (!table)
		return ERR_NOMEM;
	free(sets->table);
	sets->table = table;
	sets->table_nr = table_nr;
	for (uint32_t set = 1; set < sets->nr; set++)
		table[find_slot(sets, words_of(sets, set))] = set;
	return 0;
}

/*
 * Makes room for one more set of islands at the end of `words`. Returns 0 or
 * ERR_NOMEM.
 */
static int reserve(struct island_sets *sets)
{
	if ((size_t)sets->nr * 2 >= sets->table_nr && grow_table(sets) < 0)
		return ERR_NOMEM;
	return mem_grow(&sets->words, &sets->alloc,
			(sets->nr + (size_t)1) * sets->word_nr,
			sizeof(*sets->words));
}

/*
 * Adds the set that the caller has written behind the last set (see reserve()),
 * and returns its number. If an equal set exists already, returns the number of
 * that set, and adds nothing.
 */
static uint32_t intern(struct island_sets *sets)
{
	size_t slot = find_slot(sets, words_of(sets, sets->nr));

	if (!sets->table[slot])
		sets->table[slot] = sets->nr++;
	return sets->table[slot];
}

int island_sets_begin(struct island_sets *sets)
{
	if (reserve(sets) < 0)
		return ERR_NOMEM;
	memset(words_of(sets, sets->nr), 0,
	       sets->word_nr * sizeof(*sets->words));
	return 0;
}

void island_sets_put(struct island_sets *sets, uint32_t island)
{
	words_of(sets, sets->nr)[island / 64] |= UINT64_C(1) << (island % 64);
}

uint32_t island_sets_end(struct island_sets *sets)
{
	return intern(sets);
}

int island_sets_single(uint32_t *set, struct island_sets *sets, uint32_t island)
{
	if (island_sets_begin(sets) < 0)
		return ERR_NOMEM;
	island_sets_put(sets, island);
	*set = island_sets_end(sets);
	return 0;
}

int island_sets_add(uint32_t *set, struct island_sets *sets, uint32_t other)
{
	uint32_t a = *set < other ? *set : other;
	uint32_t b = *set < other ? other : *set;
	struct island_union *known;
	uint64_t *words;

	if (a == b || a == ISLAND_SET_EMPTY) {
		*set = b;
		return 0;
	}
	known = &sets->unions[mix((uint64_t)a << 32 | b, 0) % UNIONS];
	if (known->a == a && known->b == b) {
		*set = known->of;
		return 0;
	}
	if (reserve(sets) < 0)
		return ERR_NOMEM;
	words = words_of(sets, sets->nr);
	for (size_t i = 0; i < sets->word_nr; i++)
		words[i] = words_of(sets, a)[i] | words_of(sets, b)[i];
	*set = intern(sets);
	*known = (struct island_union){a, b, *set};
	return 0;
}

bool island_sets_has(const struct island_sets *sets, uint32_t set,
		     uint32_t island)
{
	return words_of(sets, set)[island / 64] >> (island % 64) & 1;
}

bool island_sets_contains(const struct island_sets *sets, uint32_t set,
			  uint32_t sub)
{
	if (set == sub || sub == ISLAND_SET_EMPTY)
		return true;
	for (size_t i = 0; i < sets->word_nr; i++)
		if (words_of(sets, sub)[i] & ~words_of(sets, set)[i])
			return false;
	return true;
}

uint32_t island_sets_count(const struct island_sets *sets, uint32_t set)
{
	uint32_t nr = 0;

	for (size_t i = 0; i < sets->word_nr; i++)
		nr += (uint32_t)__builtin_popcountll(words_of(sets, set)[i]);
	return nr;
}
