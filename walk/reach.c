/* SPDX-License-Identifier: MIT */
/*
 * Searches depth first for target commits, and stores for each visited commit
 * whether it reaches one.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "walk/reach.h"

/*
 * Values of r->states, one for each commit. UNKNOWN: the walk has not decided
 * yet. REACHES: the commit reaches a target. A value n >= FIRST_ROUND: the
 * commit reached no target in round n. A new round begins when a target is
 * added.
 */
enum {
	UNKNOWN = 0,
	REACHES = 1,
	FIRST_ROUND = 2,
};

void reach_init(struct reach *r, struct history *h)
{
	*r = (struct reach){
		.h = h,
		.round = FIRST_ROUND,
		.min_generation = HISTORY_GENERATION_UNKNOWN,
		.min_date = UINT64_MAX,
	};
}

void reach_release(struct reach *r)
{
	free(r->states);
	free(r->stack);
	reach_init(r, r->h);
}

static int grow_states(struct reach *r)
{
	size_t old = r->state_alloc;

	if (r->h->nr <= old)
		return 0;
	if (mem_grow(&r->states, &r->state_alloc, r->h->nr,
		     sizeof(*r->states)) < 0)
		return ERR_NOMEM;
	memset(r->states + old, 0, (r->state_alloc - old) * sizeof(*r->states));
	return 0;
}

int reach_add_target(struct reach *r, uint32_t commit_nr, struct error *err)
{
	const struct history_commit *c;
	int ret = history_parse(r->h, commit_nr, err);

	if (ret < 0)
		return ret;
	if (grow_states(r) < 0)
		return error_nomem(err);
	c = &r->h->commits[commit_nr];
	if (c->generation == HISTORY_GENERATION_UNKNOWN)
		r->min_generation = 0;
	else if (c->generation < r->min_generation)
		r->min_generation = c->generation;
	if (c->date < r->min_date)
		r->min_date = c->date;
	if (r->states[commit_nr] != REACHES)
		r->round++;
	r->states[commit_nr] = REACHES;
	r->target_nr++;
	return 0;
}

/*
 * Returns whether a commit is so old that it cannot have a target as an
 * ancestor. Compares generation numbers, or dates if the generation numbers are
 * not known.
 */
static bool is_too_old(const struct reach *r, const struct history_commit *c)
{
	if (r->min_generation && c->generation != HISTORY_GENERATION_UNKNOWN)
		return c->generation <= r->min_generation;
	return !r->ignores_dates && c->date < r->min_date;
}

/*
 * Called when the walk first meets a commit. Returns 1 if the commit was pushed
 * on the stack, because it may reach a target. Returns 0 if it cannot reach a
 * target, because it is missing or too old. Otherwise returns a negative error
 * code.
 */
static int enter(struct reach *r, size_t *depth, uint32_t commit_nr,
		 struct error *err)
{
	int ret = history_parse(r->h, commit_nr, err);

	if (ret < 0 && (ret != ERR_MISSING || r->needs_all))
		return ret;
	if (grow_states(r) < 0)
		return error_nomem(err);
	r->states[commit_nr] = r->round;
	if (ret == ERR_MISSING || is_too_old(r, &r->h->commits[commit_nr]))
		return 0;
	if (mem_grow(&r->stack, &r->stack_alloc, 2 * (*depth + 1),
		     sizeof(*r->stack)) < 0)
		return error_nomem(err);
	r->stack[2 * *depth] = commit_nr;
	r->stack[2 * *depth + 1] = 0;
	++*depth;
	return 1;
}

static void settle_path(struct reach *r, size_t depth)
{
	for (size_t i = 0; i < depth; i++)
		r->states[r->stack[2 * i]] = REACHES;
}

/*
 * Returns 1 if a commit reaches a target, 0 if not, or a negative error code.
 * When a commit is pushed on the stack, its state becomes "reaches no target",
 * so that the walk does not push it again. When the walk meets a commit that
 * reaches a target, the states of all commits on the stack become REACHES.
 */
static int reaches(struct reach *r, uint32_t commit_nr, struct error *err)
{
	size_t depth = 0;
	int ret;

	if (r->states[commit_nr] == REACHES)
		return 1;
	if (r->states[commit_nr] == r->round)
		return 0;
	ret = enter(r, &depth, commit_nr, err);
	while (ret >= 0 && depth) {
		uint32_t *top = &r->stack[2 * (depth - 1)];
		uint32_t parent;

		if (top[1] == r->h->commits[top[0]].parent_nr) {
			depth--;
			continue;
		}
		parent = history_parents(r->h, top[0])[top[1]++];
		if (r->states[parent] == REACHES) {
			settle_path(r, depth);
			return 1;
		}
		if (r->states[parent] != r->round)
			ret = enter(r, &depth, parent, err);
	}
	return ret < 0 ? ret : 0;
}

int reach_all(struct reach *r, const uint32_t *commits, size_t nr,
	      struct error *err)
{
	if (!r->target_nr)
		return !nr;
	if (grow_states(r) < 0)
		return error_nomem(err);
	for (size_t i = 0; i < nr; i++) {
		int ret = reaches(r, commits[i], err);

		if (ret <= 0)
			return ret;
	}
	return 1;
}
