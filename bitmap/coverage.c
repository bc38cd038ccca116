/* SPDX-License-Identifier: MIT */
/*
 * Counts the commits that requests for tips must walk: the commits that no used
 * bitmap contains.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/sort.h"
#include "bitmap/fill.h"

/*
 * Sets *nr to the number of commits that one request for these tips walks: the
 * commits that no used bitmap contains.
 */
static int walked(uint32_t *nr, struct bitmap_fill *fill, uint32_t *commits,
		  size_t commit_nr, struct error *err)
{
	struct walk_tips tips = {
		.commits = commits,
		.commit_nr = commit_nr,
	};
	int ret;

	bitmap_fill_clear(fill);
	ret = bitmap_fill_commits(fill, &tips, err);
	*nr = fill->commits_walked;
	return ret;
}

/*
 * Removes duplicates from `commits`. Returns the number of different commits.
 */
static size_t unique(uint32_t *commits, struct sort_item *items, size_t nr)
{
	size_t left = 0;

	for (size_t i = 0; i < nr; i++)
		if (!i || items[i].key != items[i - 1].key)
			commits[left++] = (uint32_t)items[i].key;
	return left;
}

/*
 * Measures each tip alone: sets the key of each item to the number of commits
 * that a request for this tip walks.
 */
static int measure_each(struct bitmap_coverage *coverage,
			struct bitmap_fill *fill, uint32_t *commits,
			struct sort_item *items, struct error *err)
{
	for (uint32_t i = 0; i < coverage->tip_nr; i++) {
		uint32_t nr;
		int ret = walked(&nr, fill, &commits[i], 1, err);

		if (ret < 0)
			return ret;
		items[i] = (struct sort_item){nr, i};
		coverage->with_bitmap += !nr;
		coverage->walked_sum += nr;
	}
	if (sort_items(items, coverage->tip_nr) < 0)
		return error_nomem(err);
	coverage->walked_median =
		(uint32_t)items[(coverage->tip_nr - 1) / 2].key;
	coverage->walked_max = (uint32_t)items[coverage->tip_nr - 1].key;
	return 0;
}

static int measure(struct bitmap_coverage *coverage, struct bitmap_fill *fill,
		   uint32_t *commits, struct sort_item *items, size_t nr,
		   struct error *err)
{
	int ret;

	if (sort_items(items, nr) < 0)
		return error_nomem(err);
	coverage->tip_nr = (uint32_t)unique(commits, items, nr);
	ret = walked(&coverage->walked_together, fill, commits,
		     coverage->tip_nr, err);
	return ret < 0 ? ret
		       : measure_each(coverage, fill, commits, items, err);
}

int bitmap_coverage_measure(struct bitmap_coverage *coverage,
			    struct bitmap_fill *fill,
			    const struct walk_tips *tips, struct error *err)
{
	size_t nr = tips->commit_nr;
	struct sort_item *items = mem_alloc(nr, sizeof(*items));
	uint32_t *commits = mem_alloc(nr, sizeof(*commits));
	int ret = 0;

	*coverage = (struct bitmap_coverage){0};
	for (size_t i = 0; items && i < nr; i++)
		items[i] = (struct sort_item){tips->commits[i], 0};
	if (!items || !commits)
		ret = error_nomem(err);
	else if (nr)
		ret = measure(coverage, fill, commits, items, nr, err);
	if (ret < 0)
		*coverage = (struct bitmap_coverage){0};
	free(items);
	free(commits);
	return ret;
}
