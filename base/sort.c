/* SPDX-License-Identifier: MIT */
/*
 * Radix sort from the least significant digit, and the comparison of names that
 * contain version numbers.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"

/*
 * Number of bits of a digit of the radix sort: DIGIT_BITS_FEW for at most
 * FEW_MAX items, else DIGIT_BITS. A pass also takes time for each possible
 * value of a digit, so large digits would be slow for few items.
 */
#define DIGIT_BITS 16
#define DIGIT_BITS_FEW 8
#define FEW_MAX 16384
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

static void scatter(struct sort_item *dst, const struct sort_item *src,
		    size_t nr, unsigned shift, unsigned bits, size_t *starts)
{
	size_t digit_nr = (size_t)1 << bits;
	size_t mask = digit_nr - 1;
	size_t sum = 0;

	memset(starts, 0, digit_nr * sizeof(*starts));
	for (size_t i = 0; i < nr; i++)
		starts[src[i].key >> shift & mask]++;
	for (size_t d = 0; d < digit_nr; d++) {
		size_t count = starts[d];

		starts[d] = sum;
		sum += count;
	}
	for (size_t i = 0; i < nr; i++)
		dst[starts[src[i].key >> shift & mask]++] = src[i];
}

int sort_items(struct sort_item *items, size_t nr)
{
	struct sort_item *scratch, *from = items, *to;
	unsigned bits = nr > FEW_MAX ? DIGIT_BITS : DIGIT_BITS_FEW;
	uint64_t differ = 0;
	size_t *starts;

	if (nr <= INSERTION_MAX) {
		insertion_sort(items, nr);
		return 0;
	}
	scratch = mem_alloc(nr, sizeof(*scratch));
	starts = mem_alloc((size_t)1 << bits, sizeof(*starts));
	if (!scratch || !starts) {
		free(scratch);
		free(starts);
		return ERR_NOMEM;
	}
	for (size_t i = 1; i < nr; i++)
		differ |= items[i].key ^ items[0].key;
	to = scratch;
	for (unsigned shift = 0; shift < 64; shift += bits) {
		struct sort_item *swap = from;

		if (!(differ >> shift & (((uint64_t)1 << bits) - 1)))
			continue;
		scatter(to, from, nr, shift, bits, starts);
		from = to;
		to = swap;
	}
	if (from != items)
		memcpy(items, from, nr * sizeof(*items));
	free(scratch);
	free(starts);
	return 0;
}

const struct sort_item *sort_find(const struct sort_item *items, size_t nr,
				  uint64_t key)
{
	size_t low = 0, high = nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (items[mid].key < key)
			low = mid + 1;
		else
			high = mid;
	}
	return low < nr && items[low].key == key ? &items[low] : NULL;
}

int sort_items_by_bytes(struct sort_item *items, size_t nr,
			const uint8_t *(*get)(const void *ctx, uint32_t value),
			const void *ctx, size_t len)
{
	for (size_t i = 0; i < nr; i++)
		items[i].key = load_be64(get(ctx, items[i].value));
	if (sort_items(items, nr) < 0)
		return ERR_NOMEM;
	for (size_t i = 1; i < nr; i++) {
		struct sort_item item = items[i];
		size_t at = i;

		for (; at && items[at - 1].key == item.key &&
		       memcmp(get(ctx, items[at - 1].value),
			      get(ctx, item.value), len) > 0;
		     at--)
			items[at] = items[at - 1];
		items[at] = item;
	}
	return 0;
}

static int compare_strings(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void sort_strings(char **strings, size_t nr)
{
	if (nr)
		qsort(strings, nr, sizeof(*strings), compare_strings);
}

#define NO_SUFFIX ((size_t)-1)

/*
 * Finds the suffix that decides the order of two names. `differs` is the offset
 * of the first byte in which the names differ. The suffix is in `name`, and
 * contains this byte or ends directly before it. Of several suffixes, the one
 * that begins first is taken, and of those the longest. Returns the index of
 * the suffix, or NO_SUFFIX if there is none.
 */
static size_t find_suffix(const char *name, size_t differs,
			  const char *const *suffixes, size_t nr)
{
	size_t found = NO_SUFFIX, found_at = 0, found_len = 0;

	for (size_t i = 0; i < nr; i++) {
		size_t len = strlen(suffixes[i]);
		size_t at = len < differs ? differs - len : 0;

		while (at <= differs && strncmp(name + at, suffixes[i], len))
			at++;
		if (at > differs)
			continue;
		if (found != NO_SUFFIX &&
		    (at > found_at || (at == found_at && len <= found_len)))
			continue;
		found = i;
		found_at = at;
		found_len = len;
	}
	return found;
}

int sort_versions_cmp(const char *a, const char *b, const char *const *suffixes,
		      size_t nr)
{
	size_t differs = 0, suffix_a, suffix_b;

	while (a[differs] && a[differs] == b[differs])
		differs++;
	if (a[differs] == b[differs])
		return 0;
	suffix_a = find_suffix(a, differs, suffixes, nr);
	suffix_b = find_suffix(b, differs, suffixes, nr);
	if (suffix_a == suffix_b)
		return strverscmp(a, b);
	return suffix_a < suffix_b ? -1 : 1;
}
