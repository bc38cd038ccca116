/* SPDX-License-Identifier: MIT */
/* Commit selection. */
#include "base/mem.h"
#include "bitmap/select.h"

size_t bitmap_select_dense_nr(size_t object_nr)
{
	size_t dense_nr = SELECT_MIN_DENSE_NR +
			  object_nr / SELECT_OBJECTS_PER_DENSE_NR;

	return dense_nr < SELECT_MAX_DENSE_NR ? dense_nr : SELECT_MAX_DENSE_NR;
}

/* Commits in the gap that begins at distance `i` from the newest. */
static size_t gap_at(size_t i, size_t dense_nr)
{
	size_t gap = i / dense_nr;

	if (gap < 1)
		return 1;
	return gap < SELECT_MAX_GAP ? gap : SELECT_MAX_GAP;
}

/* The commit of [from, to) that serves best. */
static size_t best_of(const struct history *h, const uint32_t *commits,
		      size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (h->commits[commits[i]].parent_nr > 1)
			return i;
	return from;
}

int bitmap_select(uint32_t **selected, size_t *selected_nr,
		  const struct history *h, const uint32_t *commits, size_t nr,
		  size_t dense_nr, const uint8_t *is_tip, struct error *err)
{
	uint32_t *out = mem_alloc(nr, sizeof(*out));
	size_t out_nr = 0;

	if (!out)
		return error_nomem(err);
	for (size_t from = 0; from < nr;) {
		size_t gap = gap_at(from, dense_nr);
		size_t to = nr - from < gap ? nr : from + gap;
		size_t best = best_of(h, commits, from, to);

		for (size_t i = from; i < to; i++)
			if (i == best || is_tip[commits[i]])
				out[out_nr++] = commits[i];
		from = to;
	}
	*selected = out;
	*selected_nr = out_nr;
	return 0;
}

size_t bitmap_select_nr(size_t nr, size_t dense_nr)
{
	size_t selected = 0;

	for (size_t from = 0; from < nr; from += gap_at(from, dense_nr))
		selected++;
	return selected;
}
