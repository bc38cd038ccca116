/* SPDX-License-Identifier: MIT */
/* Breadth-first walks that stop at a shallow boundary. */
#include <stdlib.h>

#include "base/mem.h"
#include "walk/depth.h"
#include "walk/revwalk.h"

/* A queue of commits, and the set of all commits that were ever queued. */
struct frontier {
	uint32_t *commits; /* owned: commit_nr */
	size_t nr, alloc;
	struct bitset seen;
};

static void frontier_release(struct frontier *f)
{
	free(f->commits);
	bitset_release(&f->seen);
}

/* Adds a commit to the queue, unless the commit was in the queue before. */
static int meet(struct frontier *f, const struct history *h, uint32_t commit_nr)
{
	if (commit_nr >= f->seen.bits && bitset_grow(&f->seen, h->alloc) < 0)
		return ERR_NOMEM;
	if (bitset_test(&f->seen, commit_nr))
		return 0;
	if (mem_grow(&f->commits, &f->alloc, f->nr + 1, sizeof(*f->commits)) <
	    0)
		return ERR_NOMEM;
	bitset_set(&f->seen, commit_nr);
	f->commits[f->nr++] = commit_nr;
	return 0;
}

static int meet_parents(struct frontier *f, const struct history *h,
			uint32_t commit_nr)
{
	const uint32_t *parents = history_parents(h, commit_nr);

	for (uint32_t i = 0; i < h->commits[commit_nr].parent_nr; i++)
		if (meet(f, h, parents[i]) < 0)
			return ERR_NOMEM;
	return 0;
}

void depth_result_release(struct depth_result *result)
{
	free(result->shallow);
	bitset_release(&result->inside);
	*result = (struct depth_result)DEPTH_RESULT_INIT;
}

static int add_shallow(struct depth_result *result, uint32_t commit_nr)
{
	if (mem_grow(&result->shallow, &result->shallow_alloc,
		     result->shallow_nr + 1, sizeof(commit_nr)) < 0)
		return ERR_NOMEM;
	result->shallow[result->shallow_nr++] = commit_nr;
	return 0;
}

static int add_inside(struct depth_result *result, const struct history *h,
		      uint32_t commit_nr)
{
	if (commit_nr >= result->inside.bits &&
	    bitset_grow(&result->inside, h->alloc) < 0)
		return ERR_NOMEM;
	bitset_set(&result->inside, commit_nr);
	return 0;
}

/*
 * Returns whether the set h->shallow has this commit. If so, the commit is
 * treated as having no parents.
 */
static bool is_shallow(const struct history *h, uint32_t commit_nr)
{
	struct oid oid;
	uint32_t ignored;

	if (!h->shallow)
		return false;
	objspace_oid(&oid, h->space, h->commits[commit_nr].obj_pos);
	return oidmap_get(h->shallow, &oid, &ignored);
}

static int visit_distance(struct depth_result *result, struct frontier *f,
			  struct history *h, uint32_t commit_nr, bool is_last,
			  struct error *err)
{
	int ret;

	if (is_last || is_shallow(h, commit_nr))
		return add_shallow(result, commit_nr);
	ret = history_parse(h, commit_nr, err);
	if (ret < 0)
		return ret;
	if (add_inside(result, h, commit_nr) < 0)
		return ERR_NOMEM;
	return meet_parents(f, h, commit_nr);
}

int depth_by_distance(struct depth_result *result, struct history *h,
		      const uint32_t *from, size_t nr, uint32_t depth,
		      struct error *err)
{
	struct frontier f = {.seen = BITSET_INIT};
	size_t level_end, i = 0;
	uint32_t level = 1;
	int ret = 0;

	for (size_t k = 0; !ret && k < nr; k++)
		ret = meet(&f, h, from[k]);
	level_end = f.nr;
	while (!ret && i < f.nr && level <= depth) {
		ret = visit_distance(result, &f, h, f.commits[i],
				     level == depth && depth != DEPTH_INFINITE,
				     err);
		if (++i == level_end) {
			level_end = f.nr;
			if (level < DEPTH_INFINITE)
				level++;
		}
	}
	if (ret == ERR_NOMEM)
		error_nomem(err);
	frontier_release(&f);
	if (ret < 0)
		depth_result_release(result);
	return ret;
}

static int visit_nearest(struct frontier *f, struct history *h,
			 uint32_t commit_nr, struct error *err)
{
	int ret;

	if (is_shallow(h, commit_nr))
		return 0;
	ret = history_parse(h, commit_nr, err);
	return ret < 0 ? ret : meet_parents(f, h, commit_nr);
}

int depth_find_nearest(uint32_t *distance, struct history *h,
		       const uint32_t *from, size_t nr, const uint32_t *targets,
		       size_t target_nr, struct error *err)
{
	struct frontier f = {.seen = BITSET_INIT};
	struct bitset wanted = BITSET_INIT;
	size_t level_end, i = 0;
	uint32_t level = 1;
	bool found = false;
	int ret = bitset_init(&wanted, h->nr);

	for (size_t k = 0; !ret && k < target_nr; k++)
		bitset_set(&wanted, targets[k]);
	for (size_t k = 0; !ret && k < nr; k++)
		ret = meet(&f, h, from[k]);
	level_end = f.nr;
	while (!ret && target_nr && i < f.nr) {
		found = bitset_get(&wanted, f.commits[i]);
		if (found)
			break;
		ret = visit_nearest(&f, h, f.commits[i], err);
		if (++i == level_end) {
			level_end = f.nr;
			level++;
		}
	}
	if (ret == ERR_NOMEM)
		error_nomem(err);
	frontier_release(&f);
	bitset_release(&wanted);
	if (ret < 0)
		return ret;
	*distance = found ? level : 0;
	return found ? 0 : 1;
}

/*
 * Sets *selected to the commits that are reachable from `from`, but not from
 * limits->nots (deepen-not).
 */
static int select_commits(struct bitset *selected, struct history *h,
			  const uint32_t *from, size_t nr,
			  const struct depth_limits *limits, struct error *err)
{
	struct revwalk_result walked = REVWALK_RESULT_INIT;
	struct revwalk_tips tips = {from, nr, limits->nots, limits->not_nr};
	int ret = revwalk_run(&walked, h, &tips, true, err);

	if (!ret)
		ret = bitset_grow(selected, h->nr);
	for (size_t i = 0; !ret && i < walked.nr; i++)
		bitset_set(selected, walked.commits[i]);
	revwalk_result_release(&walked);
	return ret;
}

/*
 * Returns whether a parsed commit is within the limits of the request
 * (deepen-not, deepen-since). `selected` has the commits that deepen-not does
 * not exclude.
 */
static bool is_selected(const struct bitset *selected, const struct history *h,
			const struct depth_limits *limits, uint32_t commit_nr)
{
	if (limits->has_since && h->commits[commit_nr].date < limits->since)
		return false;
	return !limits->not_nr || bitset_get(selected, commit_nr);
}

/*
 * Decides whether a commit is shallow or inside (keeps all its parents). Queues
 * the parents of a commit that is inside. Returns 0 or a negative error code.
 */
static int visit_limited(struct depth_result *result, struct frontier *f,
			 struct history *h, const struct bitset *selected,
			 const struct depth_limits *limits, uint32_t commit_nr,
			 struct error *err)
{
	uint32_t parent_nr = h->commits[commit_nr].parent_nr;
	bool loses = is_shallow(h, commit_nr);

	for (uint32_t i = 0; i < parent_nr; i++) {
		uint32_t parent = history_parents(h, commit_nr)[i];
		int ret = history_parse(h, parent, err);

		if (ret < 0)
			return ret;
		loses |= !is_selected(selected, h, limits, parent);
	}
	if (loses)
		return add_shallow(result, commit_nr);
	if (meet_parents(f, h, commit_nr) < 0)
		return ERR_NOMEM;
	return add_inside(result, h, commit_nr);
}

int depth_by_limits(struct depth_result *result, struct history *h,
		    const uint32_t *from, size_t nr,
		    const struct depth_limits *limits, struct error *err)
{
	struct bitset selected = BITSET_INIT;
	struct frontier f = {.seen = BITSET_INIT};
	int ret = 0;

	if (limits->not_nr)
		ret = select_commits(&selected, h, from, nr, limits, err);
	for (size_t i = 0; !ret && i < nr; i++) {
		ret = history_parse(h, from[i], err);
		if (!ret && is_selected(&selected, h, limits, from[i]))
			ret = meet(&f, h, from[i]);
	}
	for (size_t i = 0; !ret && i < f.nr; i++)
		ret = visit_limited(result, &f, h, &selected, limits,
				    f.commits[i], err);
	if (ret == ERR_NOMEM)
		error_nomem(err);
	frontier_release(&f);
	bitset_release(&selected);
	if (ret < 0)
		depth_result_release(result);
	return ret;
}
