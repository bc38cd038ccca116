/* SPDX-License-Identifier: MIT */
/* Geometric progressions of packs. */
#include <stdbool.h>

#include "repack/geometry.h"

/* Whether `large` is at least `factor` times `small`. */
static bool is_step(uint64_t large, uint64_t small, uint64_t factor)
{
	return !small || factor <= large / small;
}

size_t geometry_split(const uint32_t *counts, size_t nr, uint64_t factor)
{
	size_t split = nr ? nr - 1 : 0;
	uint64_t sum = 0;

	/* The longest progression at the end of the list. */
	while (split && is_step(counts[split], counts[split - 1], factor))
		split--;
	if (!split)
		return 0;
	/* Its first pack has one before it that is too large: both go in. */
	split++;
	for (size_t i = 0; i < split; i++)
		sum += counts[i];
	/* What they become must be a step below the next pack. */
	while (split < nr && !is_step(counts[split], sum, factor))
		sum += counts[split++];
	return split;
}
