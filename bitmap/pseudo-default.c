/* SPDX-License-Identifier: MIT */
/* Pseudo-merges without configuration. */
#include "base/mem.h"
#include "base/sort.h"
#include "bitmap/pseudo-select.h"

/*
 * Facts about a commit, collected while visiting the history, children first.
 */
enum {
	IS_NAMED = 0x1, /* a tip of that class */
	IS_OTHER = 0x2,
	/* A request for the class reaches the commit without walking it. */
	NAMED_COVERED = 0x4,
	OTHERS_COVERED = 0x8,
	/* A tip of the class reaches the commit, and the tip has no bitmap. */
	BELOW_NAMED = 0x10,
	BELOW_OTHER = 0x20,
};

struct class_tips {
	struct sort_item *by_date; /* owned: commit_nr */
	size_t nr, alloc;
	size_t saved; /* commits that a request walks without a pseudo-merge */
};

struct selecting {
	const struct pseudo_select_input *in;
	uint8_t *flags; /* by commit_nr */
	struct class_tips named, others;
	size_t room; /* number of tips that may still be added to
		      * pseudo-merges */
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
 * Returns the flags that a tip gives to itself and its ancestors. A request for
 * all other refs asks for branches and tags as well.
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

static int add(struct class_tips *class, const struct history *h, uint32_t c)
{
	if (mem_grow(&class->by_date, &class->alloc, class->nr + 1,
		     sizeof(*class->by_date)) < 0)
		return ERR_NOMEM;
	class->by_date[class->nr++] = (struct sort_item){h->commits[c].date, c};
	return 0;
}

/* `above` are the flags from children. */
static int take_commit(struct selecting *s, uint32_t c, uint8_t above,
		       uint8_t own)
{
	const struct history *h = s->in->history;
	uint8_t all = above | own;

	if (all & BELOW_NAMED && !(all & NAMED_COVERED)) {
		s->named.saved++;
		if (!(above & BELOW_NAMED) && add(&s->named, h, c) < 0)
			return ERR_NOMEM;
	}
	if (all & BELOW_OTHER && !(all & OTHERS_COVERED)) {
		s->others.saved++;
		if (!(above & BELOW_OTHER) && add(&s->others, h, c) < 0)
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

/* Splits a class: the oldest half first, then half of the rest, and so on. */
static int split(struct pseudo_groups *out, struct class_tips *class,
		 size_t *room, size_t most)
{
	size_t end = class->nr < *room ? class->nr : *room;
	size_t from = 0;

	if (class->saved < PSEUDO_DEFAULT_MIN_SAVED)
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

int pseudo_select_default(struct pseudo_groups *out,
			  const struct pseudo_select_input *in)
{
	struct selecting s = {
		.in = in,
		.room = in->object_nr / PSEUDO_DEFAULT_OBJECTS,
	};
	int ret = mark_tips(&s);

	if (!ret)
		ret = pass_history(&s);
	if (!ret)
		ret = split(out, &s.named, &s.room, in->default_merge_nr);
	if (!ret)
		ret = split(out, &s.others, &s.room, in->default_merge_nr);
	free(s.flags);
	free(s.named.by_date);
	free(s.others.by_date);
	return ret;
}
