/* SPDX-License-Identifier: MIT */
/* Sorting: large arrays of integers, and strings. */
#ifndef BASE_SORT_H
#define BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/*
 * A key and what it stands for: for instance a pack offset and the position
 * of its object in the index.
 */
struct sort_item {
	uint64_t key;
	uint32_t value;
};

/*
 * Sort `nr` items by ascending key, stably, by least-significant-digit radix
 * passes of 16 bits (only those in which keys differ). O(nr) time, nr items
 * of scratch. Returns 0 or ERR_NOMEM with the items untouched.
 */
int sort_items(struct sort_item *items, size_t nr);

/*
 * The first item of a key in an array that is sorted; NULL: there is none.
 * O(log nr).
 */
const struct sort_item *sort_find(const struct sort_item *items, size_t nr,
				  uint64_t key);

/* Sort an array of pointers to strings by strcmp(). */
void sort_strings(char **strings, size_t nr);

#endif
