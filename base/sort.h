/* SPDX-License-Identifier: MIT */
/*
 * Sorting of large integer arrays and of strings, and the comparison of names
 * that contain version numbers.
 */
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
 * Sorts `nr` items by ascending key. The sort is stable. The method is a radix
 * sort from the least significant digit, which skips digits that are equal in
 * all keys. Takes O(nr) time and memory for nr more items. Returns 0 or
 * ERR_NOMEM. After an error, the items are unchanged.
 */
int sort_items(struct sort_item *items, size_t nr);

/*
 * Returns the first item with the given key in a sorted array, or NULL if there
 * is none. O(log nr).
 */
const struct sort_item *sort_find(const struct sort_item *items, size_t nr,
				  uint64_t key);

/*
 * Sorts `nr` items by byte strings of `len` bytes, at least 8, such as object
 * ids. get(ctx, value) returns the string of an item, and the keys are set to
 * the first 8 bytes of the strings. Few strings should have equal first 8
 * bytes: `n` such strings cost n * n comparisons. Returns 0 or ERR_NOMEM.
 */
int sort_items_by_bytes(struct sort_item *items, size_t nr,
			const uint8_t *(*get)(const void *ctx, uint32_t value),
			const void *ctx, size_t len);

/* Sorts an array of pointers to strings in the order of strcmp(). */
void sort_strings(char **strings, size_t nr);

/*
 * Compares two names that contain version numbers: "v1.9" sorts before "v1.10".
 * The order is that of strverscmp(3), except for suffixes such as "-rc". A
 * suffix counts only if the first byte in which the names differ is in the
 * suffix or directly after it. Names with different suffixes come in the order
 * of `suffixes`. A name with a suffix comes before a name without one:
 * "v1.0-rc1" comes before "v1.0".
 *
 * If several of the `nr` suffixes fit a name, the suffix that starts first
 * counts. If several start there, the longest counts. The suffix "", if it is
 * one of `suffixes`, stands for names without any other suffix, and gives them
 * a place in the order. See versionsort.suffix in git-config(1).
 *
 * Returns a negative number, 0 or a positive number. The time is linear in the
 * number of suffixes and quadratic in their length.
 */
int sort_versions_cmp(const char *a, const char *b, const char *const *suffixes,
		      size_t nr);

#endif
