/* SPDX-License-Identifier: MIT */
/* Groups tips into pseudo-merges, by the configuration or by default rules. */
#include <string.h>

#include "base/mem.h"
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

/* ---- as configured */

/*
 * The tips of one <name> of the configuration, without duplicates, sorted by
 * date. Tips that the pack lacks are left out.
 */
struct members {
	/* owned: commit_nr, sorted by date */
	struct sort_item *items;
	size_t nr;
	/* owned array, indexed by commit_nr: whether the pack has the commit */
	uint8_t *is_packed;
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
	/* Sort by commit first, so that duplicates are adjacent. */
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

/* Returns whether a commit date is at or before the time `when`. */
static bool is_until(uint64_t date, int64_t when)
{
	return when > 0 && date <= (uint64_t)when;
}

/*
 * Keeps about rate * nr items (0 < rate <= 1), evenly spread over the array.
 * Returns the number of items that remain.
 */
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
 * Adds the pseudo-merges of unstable tips. The size of the n-th pseudo-merge is
 * proportional to n^-decay, and the oldest commits are in the largest one.
 * Returns 0 or ERR_NOMEM.
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

/*
 * Adds the pseudo-merges of one <name> of the configuration. An unstable tip
 * that has a bitmap is left out. A stable tip is used even if it has a bitmap.
 */
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

/* ---- by default */

/*
 * Flags of a commit for the default selection. A pass over the history from
 * children to parents sets them. Tips have two classes: branches and tags
 * (NAMED), and other refs (OTHER). Each flag exists once for each class.
 */
enum {
	/* the commit is a tip of the class */
	IS_NAMED = 0x1,
	IS_OTHER = 0x2,
	/*
	 * A branch or tag that has a bitmap reaches the commit, so a request
	 * for all branches and tags does not walk the commit.
	 */
	NAMED_COVERED = 0x4,
	/*
	 * The commit is reachable from a branch or a tag, or from a ref of the
	 * class OTHER that has a bitmap. A request for all refs of the class
	 * OTHER comes from a mirror, which also asks for all branches and tags.
	 * The walk from the branches and tags is counted for the class NAMED.
	 * So the class OTHER counts only commits without this flag as walked.
	 */
	OTHERS_COVERED = 0x8,
	/* a tip of the class reaches the commit, and the tip has no bitmap */
	BELOW_NAMED = 0x10,
	BELOW_OTHER = 0x20,
};

struct class_tips {
	struct sort_item *by_date; /* owned: commit_nr */
	size_t nr, alloc;
	/*
	 * number of commits that one request for all tips of the class (named
	 * refs, or others) reaches
	 */
	size_t reached;
	/*
	 * Number of commits that a request for all tips of the class reaches,
	 * and that no bitmap of a tip contains. Without pseudo-merges, the
	 * request has to walk these commits. With them, it need not.
	 */
	size_t saved;
};

struct selecting {
	const struct pseudo_select_input *in;
	uint8_t *flags; /* indexed by commit_nr */
	struct class_tips named, others;
	/* number of tips that may still be added to pseudo-merges */
	size_t room;
};

static int mark_tips(struct selecting *s)
{
	const struct pseudo_tips *tips = s->in->tips;

	s->flags = mem_calloc(s->in->history->nr, 1);
	if (!s->flags)
		return ERR_NOMEM;
	for (size_t i = 0; i < tips->nr; i++)
		s->flags[tips->tips[i].commit_nr] |=
			tips->tips[i].group == PSEUDO_NAMED ? IS_NAMED
							    : IS_OTHER;
	return 0;
}

/*
 * Returns the flags of a tip. The ancestors of the tip get these flags, too.
 *
 * A commit that a branch or tag reaches gets the flag OTHERS_COVERED. The flag
 * says that a request for all refs of the class OTHER need not walk the commit.
 * The reason: only a mirror makes such a request, and a mirror also asks for
 * all branches and tags. So the walk of this commit is counted for the class
 * NAMED already.
 */
static uint8_t flags_of_tip(uint8_t is, bool has_bitmap)
{
	uint8_t flags = 0;

	if (is & IS_NAMED)
		flags |= OTHERS_COVERED |
			 (has_bitmap ? NAMED_COVERED : BELOW_NAMED);
	if (is & IS_OTHER)
		flags |= has_bitmap ? OTHERS_COVERED : BELOW_OTHER;
	return flags;
}

static int class_add(struct class_tips *class, const struct history *h,
		     uint32_t c)
{
	if (mem_grow(&class->by_date, &class->alloc, class->nr + 1,
		     sizeof(*class->by_date)) < 0)
		return ERR_NOMEM;
	class->by_date[class->nr++] = (struct sort_item){h->commits[c].date, c};
	return 0;
}

/*
 * Counts a commit. There are two classes of tips: s->named (branches and tags)
 * and s->others (all other refs). For each class, think of a request for all
 * tips of the class. The commit is counted:
 * - in `reached` of the class, if the request reaches the commit;
 * - in `saved` of the class, if the request reaches the commit, but no bitmap
 *   of a tip contains the commit. Without pseudo-merges, the request would have
 *   to walk the commit. With pseudo-merges, it need not.
 *
 * Pseudo-merges are made of the tips in class->by_date. A commit that is
 * counted in `saved` is added to these tips if two conditions are met: the
 * commit is itself a tip of the class, without a bitmap; and no other tip of
 * the class without a bitmap reaches the commit.
 *
 * `above`: the flags from the commit's children. `own`: the flags that the
 * commit has as a tip. Returns 0 or ERR_NOMEM.
 */
static int take_commit(struct selecting *s, uint32_t c, uint8_t above,
		       uint8_t own)
{
	const struct history *h = s->in->history;
	uint8_t all = above | own;

	s->named.reached += all & (BELOW_NAMED | NAMED_COVERED) ? 1 : 0;
	s->others.reached += all ? 1 : 0;
	if (all & BELOW_NAMED && !(all & NAMED_COVERED)) {
		s->named.saved++;
		if (!(above & BELOW_NAMED) && class_add(&s->named, h, c) < 0)
			return ERR_NOMEM;
	}
	if (all & BELOW_OTHER && !(all & OTHERS_COVERED)) {
		s->others.saved++;
		if (!(above & BELOW_OTHER) && class_add(&s->others, h, c) < 0)
			return ERR_NOMEM;
	}
	return 0;
}

static int pass_history(struct selecting *s)
{
	const struct history *h = s->in->history;

	for (size_t i = s->in->commit_nr; i-- > 0;) {
		uint32_t c = s->in->commits[i];
		const uint32_t *parents = history_parents(h, c);
		uint8_t is = s->flags[c] & (IS_NAMED | IS_OTHER);
		uint8_t above = s->flags[c] & ~(IS_NAMED | IS_OTHER);
		uint8_t own = flags_of_tip(is, s->in->has_bitmap[c]);

		if (take_commit(s, c, above, own) < 0)
			return ERR_NOMEM;
		for (uint32_t k = 0; k < h->commits[c].parent_nr; k++)
			s->flags[parents[k]] |= above | own;
	}
	return 0;
}

/*
 * Divides a class of tips into pseudo-merges by age: the oldest half first,
 * then half of the remaining tips, and so on. Returns 0 or ERR_NOMEM.
 */
static int class_split(struct pseudo_groups *out, struct class_tips *class,
		       size_t *room, size_t most)
{
	size_t end = class->nr < *room ? class->nr : *room;
	size_t from = 0;

	if (class->saved < PSEUDO_DEFAULT_MIN_SAVED &&
	    class->saved * PSEUDO_DEFAULT_SAVED_PART < class->reached)
		return 0;
	if (sort_items(class->by_date, class->nr) < 0)
		return ERR_NOMEM;
	*room -= end;
	for (size_t left = most; from < end; left--) {
		size_t nr = end - from;

		if (left > 1 && nr >= 2 * PSEUDO_DEFAULT_MIN_SIZE)
			nr /= 2;
		if (pseudo_groups_add(out, class->by_date + from, nr) < 0)
			return ERR_NOMEM;
		from += nr;
	}
	return 0;
}

static int select_default(struct pseudo_groups *out,
			  const struct pseudo_select_input *in)
{
	struct selecting s = {
		.in = in,
		.room = in->default_tip_nr,
	};
	int ret = mark_tips(&s);

	if (!ret)
		ret = pass_history(&s);
	if (!ret)
		ret = class_split(out, &s.named, &s.room, in->default_merge_nr);
	if (!ret)
		ret = class_split(out, &s.others, &s.room,
				  in->default_merge_nr);
	free(s.flags);
	free(s.named.by_date);
	free(s.others.by_date);
	return ret;
}

/* ---- either */

int pseudo_select(struct pseudo_groups *out,
		  const struct pseudo_select_input *in, struct error *err)
{
	int ret = in->tips->rules ? select_configured(out, in)
				  : select_default(out, in);

	return ret < 0 ? error_nomem(err) : 0;
}
