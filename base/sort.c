/* SPDX-License-Identifier: MIT */
/* Least-significant-digit radix sort. */
#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"

#define DIGIT_BITS 16
#define DIGIT_NR (1u << DIGIT_BITS)
#define INSERTION_MAX 64

static void insertion_sort(struct sort_item *items, size_t nr)
{
	for (size_t i = 1; i < nr; i++) {
		struct sort_item item = items[i];
		size_t j = i;

		for (; j && items[j - 1].key > item.key; j--)
			items[j] = items[j - 1];
		items[j] = item;
	}
}

static uint32_t digit(uint64_t key, unsigned shift)
{
	return (uint32_t)(key >> shift) & (DIGIT_NR - 1);
}

static void scatter(struct sort_item *dst, const struct sort_item *src,
		    size_t nr, unsigned shift, size_t *starts)
{
	size_t sum = 0;

	memset(starts, 0, DIGIT_NR * sizeof(*starts));
	for (size_t i = 0; i < nr; i++)
		starts[digit(src[i].key, shift)]++;
	for (size_t d = 0; d < DIGIT_NR; d++) {
		size_t count = starts[d];

		starts[d] = sum;
		sum += count;
	}
	for (size_t i = 0; i < nr; i++)
		dst[starts[digit(src[i].key, shift)]++] = src[i];
}

int sort_items(struct sort_item *items, size_t nr)
{
	struct sort_item *scratch, *from = items, *to;
	uint64_t differ = 0;
	size_t *starts;

	if (nr <= INSERTION_MAX) {
		insertion_sort(items, nr);
		return 0;
	}
	scratch = mem_alloc(nr, sizeof(*scratch));
	starts = mem_alloc(DIGIT_NR, sizeof(*starts));
	if (!scratch || !starts) {
		free(scratch);
		free(starts);
		return ERR_NOMEM;
	}
	for (size_t i = 1; i < nr; i++)
		differ |= items[i].key ^ items[0].key;
	to = scratch;
	for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
		struct sort_item *swap = from;

		if (!digit(differ, shift))
			continue;
		scatter(to, from, nr, shift, starts);
		from = to;
		to = swap;
	}
	if (from != items)
		memcpy(items, from, nr * sizeof(*items));
	free(scratch);
	free(starts);
	return 0;
}
