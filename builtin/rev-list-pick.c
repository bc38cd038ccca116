/* SPDX-License-Identifier: MIT */
/*
 * git rev-list: selects commits by their number of parents, and by their side
 * of a symmetric difference. Prints the mark of a commit's side ("<" or ">").
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builtin/rev-list.h"

/* Parse the number in an option such as "--min-parents=2". */
static int parse_number(struct rev_list_run *r, uint32_t *out, const char *text)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (!*text || *end || value > INT_MAX || value < INT_MIN)
		return error_set(r->err, ERR_INVALID, "'%s': not an integer",
				 text);
	/*
	 * A negative number means no limit: a minimum of 0 or a maximum of
	 * UINT32_MAX.
	 */
	if (value >= 0 && value < UINT32_MAX)
		*out = (uint32_t)value;
	else
		*out = out == &r->pick.min_parents ? 0 : UINT32_MAX;
	return 1;
}

static bool parse_limit(struct rev_list_pick *pick, const char *arg)
{
	if (!strcmp(arg, "--merges"))
		pick->min_parents = 2;
	else if (!strcmp(arg, "--no-merges"))
		pick->max_parents = 1;
	else if (!strcmp(arg, "--no-min-parents"))
		pick->min_parents = 0;
	else if (!strcmp(arg, "--no-max-parents"))
		pick->max_parents = UINT32_MAX;
	else
		return false;
	return true;
}

static int set_only(struct rev_list_run *r, bool *only, bool other,
		    const char *arg, const char *other_arg)
{
	*only = true;
	return other ? error_set(r->err, ERR_INVALID,
				 "options '%s' and '%s' cannot be used "
				 "together",
				 arg, other_arg)
		     : 1;
}

int rev_list_parse_pick(struct rev_list_run *r, const char *arg)
{
	struct rev_list_pick *pick = &r->pick;

	if (!strcmp(arg, "--left-right"))
		pick->left_right = true;
	else if (!strcmp(arg, "--left-only"))
		return set_only(r, &pick->left_only, pick->right_only, arg,
				"--right-only/--cherry");
	else if (!strcmp(arg, "--right-only"))
		return set_only(r, &pick->right_only, pick->left_only, arg,
				"--left-only");
	else if (!strncmp(arg, "--min-parents=", 14))
		return parse_number(r, &pick->min_parents, arg + 14);
	else if (!strncmp(arg, "--max-parents=", 14))
		return parse_number(r, &pick->max_parents, arg + 14);
	else
		return parse_limit(pick, arg);
	return 1;
}

bool rev_list_pick_leaves_out(const struct rev_list_pick *pick)
{
	return pick->left_only || pick->right_only || pick->min_parents ||
	       pick->max_parents != UINT32_MAX;
}

/*
 * Add the commits on the left side of symmetric differences (A of A...B) as
 * tips of a walk.
 */
static int add_left(struct rev_list_run *r, struct walk_tips *tips)
{
	const struct rev_list *wants = &r->args.wants;
	int ret = 0;

	for (size_t i = 0; i < wants->nr && !ret; i++)
		if (wants->items[i].is_left)
			ret = walk_add_tip(&r->walk, tips, &wants->items[i].oid,
					   false, r->err);
	return ret;
}

/* Find the commits that the left side of a symmetric difference reaches. */
static int find_left(struct rev_list_run *r, const struct walk_tips *left)
{
	const struct revwalk_tips tips = {
		left->commits,
		left->commit_nr,
		r->haves.commits,
		r->haves.commit_nr,
	};
	struct revwalk_result revs = REVWALK_RESULT_INIT;
	int ret = revwalk_run(&revs, &r->walk.history, &tips, false, r->err);

	if (!ret && bitset_init(&r->pick.left, r->walk.history.nr) < 0)
		ret = error_nomem(r->err);
	for (size_t i = 0; i < revs.nr && !ret; i++)
		bitset_set(&r->pick.left, revs.commits[i]);
	revwalk_result_release(&revs);
	return ret;
}

int rev_list_open_pick(struct rev_list_run *r)
{
	const struct rev_list_pick *pick = &r->pick;
	struct walk_tips left = WALK_TIPS_INIT;
	int ret;

	if (pick->left_right && r->o.count && r->o.objects)
		return error_set(r->err, ERR_INVALID,
				 "marked counting and '--objects' cannot be "
				 "used together");
	if (!pick->left_right && !pick->left_only && !pick->right_only)
		return 0;
	ret = add_left(r, &left);
	if (!ret)
		ret = find_left(r, &left);
	walk_tips_release(&left);
	return ret;
}

static bool is_left(const struct rev_list_pick *pick, uint32_t commit_nr)
{
	return bitset_get(&pick->left, commit_nr);
}

static bool picks(const struct rev_list_run *r, uint32_t commit_nr)
{
	const struct rev_list_pick *pick = &r->pick;
	uint32_t nr = r->walk.history.commits[commit_nr].parent_nr;

	if (nr < pick->min_parents || nr > pick->max_parents)
		return false;
	if (!pick->left_only && !pick->right_only)
		return true;
	return is_left(pick, commit_nr) == pick->left_only;
}

void rev_list_pick(const struct rev_list_run *r, struct revwalk_result *revs)
{
	size_t kept = 0;

	if (!rev_list_pick_leaves_out(&r->pick))
		return;
	for (size_t i = 0; i < revs->nr; i++)
		if (picks(r, revs->commits[i]))
			revs->commits[kept++] = revs->commits[i];
	revs->nr = kept;
}

void rev_list_count_side(struct rev_list_run *r, uint32_t commit_nr)
{
	r->pick.left_nr += is_left(&r->pick, commit_nr);
}

void rev_list_print_side(const struct rev_list_run *r, uint32_t commit_nr)
{
	if (r->pick.left_right)
		putchar(is_left(&r->pick, commit_nr) ? '<' : '>');
}
