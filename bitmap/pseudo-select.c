/* SPDX-License-Identifier: MIT */
/* Configured pseudo-merges. */
#include <string.h>

#include "base/mem.h"
#include "base/power.h"
#include "base/sort.h"
#include "bitmap/pseudo-select.h"

void pseudo_tips_release(struct pseudo_tips *tips)
{
	free(tips->tips);
	free(tips->rules);
	*tips = (struct pseudo_tips)PSEUDO_TIPS_INIT;
}

int pseudo_tips_add(struct pseudo_tips *tips, uint32_t commit_nr,
		    uint32_t group)
{
	if (mem_grow(&tips->tips, &tips->alloc, tips->nr + 1,
		     sizeof(*tips->tips)) < 0)
		return ERR_NOMEM;
	tips->tips[tips->nr++] = (struct pseudo_tip){commit_nr, group};
	return 0;
}

void pseudo_groups_release(struct pseudo_groups *groups)
{
	for (size_t i = 0; i < groups->nr; i++)
		free(groups->groups[i].commits);
	free(groups->groups);
	*groups = (struct pseudo_groups)PSEUDO_GROUPS_INIT;
}

int pseudo_groups_add(struct pseudo_groups *groups,
		      const struct sort_item *items, size_t nr)
{
	uint32_t *commits = mem_alloc(nr, sizeof(*commits));

	if (!commits || mem_grow(&groups->groups, &groups->alloc,
				 groups->nr + 1, sizeof(*groups->groups)) < 0) {
		free(commits);
		return ERR_NOMEM;
	}
	for (size_t i = 0; i < nr; i++)
		commits[i] = items[i].value;
	groups->groups[groups->nr++] = (struct bitmap_group){commits, nr};
	return 0;
}

/* The packed tips of a group by age, without duplicates. */
struct members {
	struct sort_item *items; /* owned: commit_nr by date */
	size_t nr;
	uint8_t *is_packed; /* owned: by commit_nr */
};

static int members_init(struct members *m, const struct pseudo_select_input *in)
{
	m->items = mem_alloc(in->tips->nr, sizeof(*m->items));
	m->is_packed = mem_calloc(in->history->nr, 1);
	if (!m->items || !m->is_packed)
		return ERR_NOMEM;
	for (size_t i = 0; i < in->commit_nr; i++)
		m->is_packed[in->commits[i]] = 1;
	return 0;
}

static void members_release(struct members *m)
{
	free(m->items);
	free(m->is_packed);
}

static int members_load(struct members *m, const struct pseudo_select_input *in,
			const struct sort_item *tips, size_t nr)
{
	const struct history *h = in->history;

	m->nr = 0;
	for (size_t i = 0; i < nr; i++)
		m->items[i] = (struct sort_item){tips[i].value, tips[i].value};
	/* Sorting by commit first makes duplicates adjacent. */
	if (sort_items(m->items, nr) < 0)
		return ERR_NOMEM;
	for (size_t i = 0; i < nr; i++) {
		uint32_t c = m->items[i].value;

		if (!m->is_packed[c] ||
		    (m->nr && m->items[m->nr - 1].value == c))
			continue;
		m->items[m->nr++] = (struct sort_item){h->commits[c].date, c};
	}
	return sort_items(m->items, m->nr);
}

/* Returns whether a commit is from `when` or before. */
static bool is_until(uint64_t date, int64_t when)
{
	return when > 0 && date <= (uint64_t)when;
}

/* Keeps an evenly spread part of the items. */
static size_t sample(struct sort_item *items, size_t nr, double rate)
{
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++)
		if ((size_t)((double)(i + 1) * rate) >
		    (size_t)((double)i * rate))
			items[kept++] = items[i];
	return kept;
}

/*
 * The size of the n-th pseudo-merge is proportional to n^-decay. The oldest
 * commits are in the largest.
 */
static int add_unstable(struct pseudo_groups *out, const struct members *m,
			const struct pseudo_rules *rules)
{
	size_t from = 0;
	double total = 0, share = 0;
	uint32_t merges = rules->max_merges < m->nr ? rules->max_merges
						    : (uint32_t)m->nr;

	for (uint32_t n = 1; n <= merges; n++)
		total += 1 / power(n, rules->decay);
	for (uint32_t n = 1; n <= merges && from < m->nr; n++) {
		size_t to;

		share += 1 / power(n, rules->decay);
		to = n == merges ? m->nr
				 : (size_t)((double)m->nr * share / total + .5);
		if (to > m->nr)
			to = m->nr;
		if (to <= from)
			continue;
		if (pseudo_groups_add(out, m->items + from, to - from) < 0)
			return ERR_NOMEM;
		from = to;
	}
	return 0;
}

static int add_stable(struct pseudo_groups *out, const struct sort_item *items,
		      size_t nr, const struct pseudo_rules *rules)
{
	for (size_t from = 0; from < nr;) {
		size_t size = nr - from < rules->stable_size
				      ? nr - from
				      : rules->stable_size;

		if (pseudo_groups_add(out, items + from, size) < 0)
			return ERR_NOMEM;
		from += size;
	}
	return 0;
}

/* Stable tips may have a bitmap of their own; unstable ones must not. */
static int select_group(struct pseudo_groups *out, struct members *m,
			const struct pseudo_select_input *in,
			const struct pseudo_rules *rules)
{
	size_t stable_nr = 0, end = 0;

	while (stable_nr < m->nr &&
	       is_until(m->items[stable_nr].key, rules->stable_threshold))
		stable_nr++;
	if (add_stable(out, m->items, stable_nr, rules) < 0)
		return ERR_NOMEM;
	for (size_t i = stable_nr; i < m->nr; i++)
		if (is_until(m->items[i].key, rules->threshold) &&
		    !in->has_bitmap[m->items[i].value])
			m->items[end++] = m->items[i];
	m->nr = sample(m->items, end, rules->sample_rate);
	return add_unstable(out, m, rules);
}

static int select_configured(struct pseudo_groups *out,
			     const struct pseudo_select_input *in)
{
	size_t nr = in->tips->nr;
	struct sort_item *by_group = mem_alloc(nr, sizeof(*by_group));
	struct members m = {0};
	int ret = by_group ? members_init(&m, in) : ERR_NOMEM;

	for (size_t i = 0; i < nr && !ret; i++)
		by_group[i] = (struct sort_item){in->tips->tips[i].group,
						 in->tips->tips[i].commit_nr};
	if (!ret)
		ret = sort_items(by_group, nr);
	for (size_t i = 0, to; i < nr && !ret; i = to) {
		for (to = i + 1;
		     to < nr && by_group[to].key == by_group[i].key;)
			to++;
		ret = members_load(&m, in, by_group + i, to - i);
		if (!ret)
			ret = select_group(out, &m, in,
					   &in->tips->rules[by_group[i].key]);
	}
	free(by_group);
	members_release(&m);
	return ret;
}

int pseudo_select(struct pseudo_groups *out,
		  const struct pseudo_select_input *in, struct error *err)
{
	int ret = in->tips->rules ? select_configured(out, in)
				  : pseudo_select_default(out, in);

	return ret < 0 ? error_nomem(err) : 0;
}
