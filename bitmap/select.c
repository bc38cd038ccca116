/* SPDX-License-Identifier: MIT */
/* Selects the commits that get a bitmap. */
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "bitmap/select.h"

size_t bitmap_select_dense_nr(size_t object_nr)
{
	size_t dense_nr = SELECT_MIN_DENSE_NR +
			  object_nr / SELECT_OBJECTS_PER_DENSE_NR;

	return dense_nr < SELECT_MAX_DENSE_NR ? dense_nr : SELECT_MAX_DENSE_NR;
}

static size_t plain_gap_at(size_t i)
{
	if (i < SELECT_PLAIN_NEWEST)
		return 1;
	return i < SELECT_PLAIN_FAR ? SELECT_PLAIN_GAP : SELECT_PLAIN_FAR_GAP;
}

/*
 * Returns the size of the gap (a run of commits from which one is selected)
 * that begins at distance `i` from the newest commit.
 */
static size_t gap_at(size_t i, size_t dense_nr)
{
	size_t gap;

	if (dense_nr == SELECT_PLAIN)
		return plain_gap_at(i);
	gap = i / dense_nr;
	if (gap < 1)
		return 1;
	return gap < SELECT_MAX_GAP ? gap : SELECT_MAX_GAP;
}

/*
 * Returns an array indexed by commit_nr: how many wanted tips have the commit
 * on their first-parent line. The first-parent line of a tip is the chain of
 * first parents that begins at the tip. Returns NULL if memory runs out.
 */
static uint32_t *count_lines(const struct bitmap_select_input *in)
{
	const struct history *h = in->history;
	uint32_t *lines = mem_calloc(h->nr, sizeof(*lines));

	for (size_t i = in->nr; lines && i-- > 0;) {
		uint32_t c = in->parents_first[i];

		lines[c] += in->is_tip[c] == SELECT_TIP;
		if (h->commits[c].parent_nr)
			lines[history_parents(h, c)[0]] += lines[c];
	}
	return lines;
}

/*
 * Chooses one of the commits at the indexes [from, to) of the history: the one
 * that gets a bitmap. Returns its index.
 */
static size_t best_of(const struct bitmap_select_input *in,
		      const uint32_t *lines, size_t from, size_t to)
{
	const struct history_commit *commits = in->history->commits;
	size_t best = from;

	for (size_t i = from + 1; i < to; i++) {
		uint32_t c = in->commits[i], b = in->commits[best];

		if (lines[c] > lines[b] ||
		    (lines[c] == lines[b] && commits[c].parent_nr > 1 &&
		     commits[b].parent_nr < 2))
			best = i;
	}
	return best;
}

int bitmap_select(uint32_t **selected, size_t *selected_nr,
		  const struct bitmap_select_input *in, struct error *err)
{
	uint32_t *out = mem_alloc(in->nr, sizeof(*out));
	uint32_t *lines = count_lines(in);
	size_t out_nr = 0;

	if (!out || !lines) {
		free(out);
		free(lines);
		return error_nomem(err);
	}
	for (size_t from = 0; from < in->nr;) {
		size_t gap = gap_at(from, in->dense_nr);
		size_t to = in->nr - from < gap ? in->nr : from + gap;
		size_t best = best_of(in, lines, from, to);

		for (size_t i = from; i < to; i++) {
			uint32_t c = in->commits[i];

			if (in->is_tip[c] == SELECT_TIP || i == best)
				out[out_nr++] = c;
		}
		from = to;
	}
	free(lines);
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
