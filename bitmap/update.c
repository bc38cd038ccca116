/* SPDX-License-Identifier: MIT */
/* Chooses the bitmaps that are added to an older index. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "bitmap/choose.h"
#include "bitmap/select.h"

enum {
	/* the walk for new commits has visited the commit */
	SEEN_NEW = 1,
	/* building the bitmaps needs the commit's new-object list */
	SEEN_BUILD = 2,
	/* the older index has a bitmap of the commit */
	HAS_BITMAP = 4,
	IS_SELECTED = 8, /* the commit gets a bitmap */
	/* the commit is in a pseudo-merge */
	IS_GROUPED = 16,
};

struct updating {
	struct bitmap_update *u;
	const struct bitmap_update_input *in;
	/*
	 * owned array, indexed by commit_nr: flags of the commit, SEEN_NEW and
	 * those that follow it
	 */
	uint8_t *flags;
	size_t flag_nr;
	uint32_t *stack; /* owned: commits to visit */
	size_t stack_nr, stack_alloc;
	struct error *err;
};

/* Returns the flags of a commit, or NULL if memory runs out. */
static uint8_t *flags_of(struct updating *s, uint32_t c)
{
	size_t alloc = s->flag_nr;

	if (c >= s->flag_nr) {
		if (mem_grow(&s->flags, &alloc, (size_t)c + 1, 1) < 0)
			return NULL;
		memset(s->flags + s->flag_nr, 0, alloc - s->flag_nr);
		s->flag_nr = alloc;
	}
	return &s->flags[c];
}

static bool has_flag(const struct updating *s, uint32_t c, uint8_t flag)
{
	return c < s->flag_nr && s->flags[c] & flag;
}

static int push(struct updating *s, uint32_t c)
{
	if (mem_grow(&s->stack, &s->stack_alloc, s->stack_nr + 1,
		     sizeof(*s->stack)) < 0)
		return error_nomem(s->err);
	s->stack[s->stack_nr++] = c;
	return 0;
}

static int push_parents(struct updating *s, uint32_t c)
{
	struct history *h = &s->in->walk->history;
	int ret = 0;

	for (uint32_t i = 0; i < h->commits[c].parent_nr && !ret; i++)
		ret = push(s, history_parents(h, c)[i]);
	return ret;
}

/* Returns whether the older bitmap index has a bit for a commit. */
static bool is_old(const struct updating *s, uint32_t c)
{
	const struct bitmap_space *space = s->in->space;
	struct walk *w = s->in->walk;
	uint32_t bit;

	if (!bitmap_space_bit(space, &w->space, w->history.commits[c].obj_pos,
			      &bit))
		return false;
	return s->in->previous ? bitset_test(&s->in->previous->map.is_old, bit)
			       : bit < bitmap_space_base_nr(space);
}

/*
 * Returns whether the older bitmap index, or a layer below, has a bitmap of a
 * commit.
 */
static bool has_bitmap(const struct updating *s, uint32_t c)
{
	struct walk *w = s->in->walk;
	uint32_t idx_pos, row;

	if (s->in->previous)
		return has_flag(s, c, HAS_BITMAP);
	return bitmap_space_idx(s->in->space, &w->space,
				w->history.commits[c].obj_pos, &idx_pos) &&
	       bitmap_file_find(s->in->below, idx_pos, &row);
}

static int add_commit(struct updating *s, uint32_t c, uint8_t flag)
{
	struct bitmap_update *u = s->u;

	*flags_of(s, c) |= flag;
	if (mem_grow(&u->commits, &u->commit_alloc, u->commit_nr + 1,
		     sizeof(*u->commits)) < 0)
		return error_nomem(s->err);
	u->commits[u->commit_nr++] = c;
	return 0;
}

/*
 * Walks from the commits on the stack, sets `flag` on each visited commit, and
 * appends the commit to the update's list. With SEEN_NEW, the walk stops at
 * commits that the older index has. With SEEN_BUILD, it stops at commits that
 * have a bitmap.
 */
static int walk(struct updating *s, uint8_t flag)
{
	int ret = 0;

	while (s->stack_nr && !ret) {
		uint32_t c = s->stack[--s->stack_nr];
		uint8_t *flags = flags_of(s, c);
		bool ends;

		if (!flags)
			return error_nomem(s->err);
		if (*flags & flag)
			continue;
		ends = flag == SEEN_NEW ? is_old(s, c) : has_bitmap(s, c);
		if (ends)
			continue;
		ret = history_parse(&s->in->walk->history, c, s->err);
		if (!ret && *flags_of(s, c) & SEEN_NEW)
			/* the commit is already in the list */
			*flags_of(s, c) |= flag;
		else if (!ret)
			ret = add_commit(s, c, flag);
		if (!ret)
			ret = push_parents(s, c);
	}
	return ret;
}

static int mark_bitmaps(struct updating *s)
{
	const struct bitmap_previous *p = s->in->previous;

	for (size_t i = 0; p && i < p->nr; i++) {
		uint8_t *flags = flags_of(s, p->entries[i].commit_nr);

		if (!flags)
			return error_nomem(s->err);
		*flags |= HAS_BITMAP;
	}
	return 0;
}

static int find_new(struct updating *s)
{
	int ret = 0;

	for (size_t i = 0; i < s->in->tip_nr && !ret; i++)
		ret = push(s, s->in->tips[i]);
	if (!ret)
		ret = walk(s, SEEN_NEW);
	s->u->new_nr = s->u->commit_nr;
	return ret;
}

static int select_one(struct updating *s, uint32_t c)
{
	struct bitmap_update *u = s->u;
	uint8_t *flags = flags_of(s, c);

	if (!flags || mem_grow(&u->selected, &u->selected_alloc,
			       u->selected_nr + 1, sizeof(*u->selected)) < 0)
		return error_nomem(s->err);
	if (*flags & IS_SELECTED || has_bitmap(s, c))
		return 0;
	*flags |= IS_SELECTED;
	u->selected[u->selected_nr++] = c;
	return 0;
}

static size_t dense_nr(const struct updating *s)
{
	return bitmap_select_dense_nr(bitmap_space_nr(s->in->space));
}

/*
 * Returns whether a commit gets a bitmap because it is a tip: HEAD or a tip
 * that the configuration names (SELECT_TIP), or a new branch
 * (SELECT_NEW_BRANCH) that the older index lacks. If the older index contains
 * the branch, the branch was considered when that index was made.
 */
static bool is_wanted_tip(const struct updating *s, uint32_t c)
{
	uint8_t tip = c < s->in->is_tip_nr ? s->in->is_tip[c] : SELECT_NO_TIP;

	return tip == SELECT_TIP ||
	       (tip == SELECT_NEW_BRANCH && has_flag(s, c, SEEN_NEW));
}

/* Returns a number n: one of every n new commits gets a bitmap. */
static size_t choose_gap(const struct updating *s)
{
	size_t nr = s->u->new_nr, most;

	if (s->in->previous || !nr)
		return UPDATE_GAP;
	most = bitmap_select_nr(nr, dense_nr(s));
	return nr / UPDATE_GAP <= most ? UPDATE_GAP : nr / most;
}

/*
 * Selects one commit from each run of new commits (choose_gap() returns the
 * length of a run), and the wanted tips.
 */
static int choose_commits(struct updating *s)
{
	const struct history *h = &s->in->walk->history;
	size_t nr = s->u->new_nr, gap = choose_gap(s);
	struct sort_item *items = mem_alloc(nr, sizeof(*items));
	int ret = items ? 0 : error_nomem(s->err);

	for (size_t i = 0; i < nr && !ret; i++) {
		uint32_t c = s->u->commits[i];

		items[i] = (struct sort_item){UINT64_MAX - h->commits[c].date,
					      c};
	}
	if (!ret && sort_items(items, nr) < 0)
		ret = error_nomem(s->err);
	for (size_t i = 0; i < nr && !ret; i += gap)
		ret = select_one(s, items[i].value);
	for (size_t i = 0; i < s->in->tip_nr && !ret; i++)
		if (is_wanted_tip(s, s->in->tips[i]))
			ret = select_one(s, s->in->tips[i]);
	free(items);
	return ret;
}

/*
 * Returns how many bitmaps near tips of references (bitmap/tip-select.h) would
 * fit into an index made from scratch. The size of all bitmaps of an index has
 * a limit, in words (in->budget_words). The estimate assumes that each bitmap
 * is as large as the mean bitmap of the older index.
 */
static size_t most_near_tips(const struct updating *s)
{
	const struct bitmap_previous *p = s->in->previous;
	size_t words = s->in->budget_words ? s->in->budget_words
					   : bitmap_space_nr(s->in->space) /
						     CHOOSE_OBJECTS_PER_WORD;
	size_t used = 0;

	for (size_t i = 0; i < p->nr; i++)
		used += p->entries[i].bitmap.word_nr;
	return words / (used / (p->nr + 1) + 1);
}

/*
 * Returns whether the index should be made from scratch. It should in two
 * cases: a large part of all commits is new, or the updated index would have
 * more than twice as many bitmaps as an index made from scratch may have.
 */
static bool is_time_to_choose_anew(const struct updating *s)
{
	const struct bitmap_previous *p = s->in->previous;
	size_t old = bitmap_file_count_type(p->file, BITMAP_COMMITS);
	size_t all = old + s->u->new_nr, wanted = 0, most;

	for (size_t i = 0; i < s->in->tip_nr; i++)
		wanted += is_wanted_tip(s, s->in->tips[i]);
	most = bitmap_select_nr(all, SELECT_PLAIN) + wanted + most_near_tips(s);
	return s->u->new_nr > all / 4 + dense_nr(s) ||
	       p->nr + s->u->selected_nr > 2 * most;
}

/* ---- pseudo-merges */

/* Makes a set of the bits of all tips. Returns 0 or ERR_NOMEM. */
static int tip_set(struct updating *s, struct bitset *set)
{
	struct walk *w = s->in->walk;
	uint32_t bit;

	if (bitset_init(set, bitmap_space_nr(s->in->space)) < 0)
		return error_nomem(s->err);
	for (size_t i = 0; i < s->in->tip_nr; i++) {
		uint32_t obj_pos = w->history.commits[s->in->tips[i]].obj_pos;

		if (bitmap_space_bit(s->in->space, &w->space, obj_pos, &bit))
			bitset_set(set, bit);
	}
	return 0;
}

static int group_add(struct updating *s, struct sort_item **items, size_t *nr,
		     size_t *alloc, uint32_t c)
{
	uint8_t *flags = flags_of(s, c);

	if (!flags || mem_grow(items, alloc, *nr + 1, sizeof(**items)) < 0)
		return error_nomem(s->err);
	if (*flags & IS_GROUPED)
		return 0;
	*flags |= IS_GROUPED;
	(*items)[(*nr)++] = (struct sort_item){
		s->in->walk->history.commits[c].date, c};
	return 0;
}

/*
 * Makes a new pseudo-merge from an old one. Only those commits of the old one
 * that are still tips are taken over.
 */
static int regroup(struct updating *s, const struct ewah_view *commits,
		   const struct bitset *tips)
{
	struct sort_item *items = NULL;
	size_t nr = 0, alloc = 0, bit;
	struct ewah_bit_iter it;
	int ret = 0;

	ewah_bit_iter_init(&it, commits);
	while (!ret && ewah_bit_iter_next(&it, &bit)) {
		struct walk *w = s->in->walk;
		uint32_t obj_pos, c, idx_pos;

		if (!bitset_get(tips, bit))
			continue;
		idx_pos = bitmap_space_idx_pos(s->in->space, (uint32_t)bit);
		if (objspace_add(&w->space,
				 bitmap_space_id(s->in->space, idx_pos),
				 &obj_pos) < 0 ||
		    history_add(&w->history, obj_pos, &c) < 0)
			ret = error_nomem(s->err);
		else
			ret = group_add(s, &items, &nr, &alloc, c);
	}
	if (!ret && nr >= PSEUDO_DEFAULT_MIN_SIZE &&
	    pseudo_groups_add(&s->u->groups, items, nr) < 0)
		ret = error_nomem(s->err);
	free(items);
	return ret;
}

static bool stays(const struct ewah_view *commits, const struct bitset *tips)
{
	return ewah_count_and(commits, tips) == ewah_count(commits);
}

static int check_groups(struct updating *s, const struct bitset *tips)
{
	struct bitmap_previous *p = s->in->previous;
	size_t kept = 0;
	int ret = 0;

	for (size_t i = 0; i < p->group_nr; i++) {
		struct ewah_view commits = ewah_view_of(&p->groups[i].commits);

		if (!ret && s->in->pseudo_merges && stays(&commits, tips)) {
			p->groups[kept++] = p->groups[i];
			continue;
		}
		if (!ret && s->in->pseudo_merges)
			ret = regroup(s, &commits, tips);
		ewah_release(&p->groups[i].commits);
		ewah_release(&p->groups[i].objects);
	}
	p->group_nr = kept;
	return ret;
}

/* Returns the number of commits that may still be added to pseudo-merges. */
static size_t group_room(const struct updating *s)
{
	const struct bitmap_previous *p = s->in->previous;
	size_t most = s->in->grouped_max, nr = 0;

	for (size_t i = 0; i < p->group_nr; i++) {
		struct ewah_view commits = ewah_view_of(&p->groups[i].commits);

		nr += ewah_count(&commits);
	}
	for (size_t i = 0; i < s->u->groups.nr; i++)
		nr += s->u->groups.groups[i].nr;
	return nr < most ? most - nr : 0;
}

/* Makes a pseudo-merge of those new tips that have no bitmap. */
static int group_new_tips(struct updating *s)
{
	size_t room = group_room(s);
	struct sort_item *items = NULL;
	size_t nr = 0, alloc = 0;
	int ret = 0;

	for (size_t i = 0; i < s->in->tip_nr && !ret; i++) {
		uint32_t c = s->in->tips[i];

		if (has_flag(s, c, SEEN_NEW) && !has_flag(s, c, IS_SELECTED))
			ret = group_add(s, &items, &nr, &alloc, c);
	}
	if (!ret && nr > room) {
		ret = sort_items(items, nr) < 0 ? error_nomem(s->err) : 0;
		nr = room;
	}
	if (!ret && nr >= PSEUDO_DEFAULT_MIN_SIZE &&
	    pseudo_groups_add(&s->u->groups, items, nr) < 0)
		ret = error_nomem(s->err);
	free(items);
	return ret;
}

static int choose_groups(struct updating *s)
{
	struct bitset tips = BITSET_INIT;
	int ret = tip_set(s, &tips);

	if (!ret)
		ret = check_groups(s, &tips);
	if (!ret && s->in->pseudo_merges)
		ret = group_new_tips(s);
	bitset_release(&tips);
	return ret;
}

/* ---- commits from which new bitmaps are built, and their new objects */

static int find_built(struct updating *s)
{
	const struct bitmap_update *u = s->u;
	int ret = 0;

	for (size_t i = 0; i < u->selected_nr && !ret; i++)
		ret = push(s, u->selected[i]);
	for (size_t g = 0; g < u->groups.nr; g++)
		for (size_t i = 0; i < u->groups.groups[g].nr && !ret; i++)
			ret = push(s, u->groups.groups[g].commits[i]);
	return ret < 0 ? ret : walk(s, SEEN_BUILD);
}

static int list_objects(struct updating *s)
{
	struct bitmap_update *u = s->u;
	struct history *h = &s->in->walk->history;
	const struct newobj_options options = {
		.threads = s->in->threads,
		.memory_limit = s->in->memory_limit,
		.progress = s->in->progress,
	};
	int ret = revwalk_parents_first(h, u->commits, u->commit_nr, NULL, 0,
					NULL, s->err);

	return ret < 0 ? ret
		       : newobj_compute(&u->lists, h, u->commits, u->commit_nr,
					&options, s->err);
}

int bitmap_update_choose(struct bitmap_update *update,
			 const struct bitmap_update_input *in,
			 struct error *err)
{
	struct updating s = {.u = update, .in = in, .err = err};
	int ret;

	*update = (struct bitmap_update){.lists = NEWOBJ_SET_INIT,
					 .groups = PSEUDO_GROUPS_INIT};
	ret = mark_bitmaps(&s);
	if (!ret)
		ret = find_new(&s);
	if (!ret)
		ret = choose_commits(&s);
	if (!ret && in->previous && is_time_to_choose_anew(&s))
		ret = 1;
	if (!ret && in->previous)
		ret = choose_groups(&s);
	if (!ret)
		ret = find_built(&s);
	if (!ret)
		ret = list_objects(&s);
	free(s.flags);
	free(s.stack);
	return ret;
}

void bitmap_update_release(struct bitmap_update *update)
{
	free(update->commits);
	free(update->selected);
	newobj_release(&update->lists);
	pseudo_groups_release(&update->groups);
}
