/* SPDX-License-Identifier: MIT */
/* Sorting of large integer arrays and of strings. */
#ifndef BASE_SORT_H
#define BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/*
 * A key and a value that belongs to it, for instance a pack offset and the
 * position of its object in the index.
 */
struct sort_item {
	uint64_t key;
	uint32_t value;
};

/*
 * Sorts `nr` items by ascending key. The sort is stable. It is a radix sort
 * from the least significant digit, which skips digits that are equal in all
 * keys. Takes O(nr) time and memory for nr more items. Returns 0, or ERR_NOMEM
 * with the items untouched.
 */
int sort_items(struct sort_item *items, size_t nr);

/*
 * Returns the first item with the given key in a sorted array, or NULL if there
 * is none. O(log nr).
 */
const struct sort_item *sort_find(const struct sort_item *items, size_t nr,
				  uint64_t key);

/* Sorts an array of pointers to strings in the order of strcmp(). */
void sort_strings(char **strings, size_t nr);

#endif
