/* SPDX-License-Identifier: MIT */
/* Walks commits by date, and marks uninteresting commits. */
#include <string.h>

#include "base/heap.h"
#include "base/mem.h"
#include "walk/revwalk.h"
#include "walk/walk-end.h"

enum {
	SEEN = 1 << 0, /* was queued */
	/* the commit is reachable from a have */
	UNINTERESTING = 1 << 1,
	/* the commit has left the queue, and its parents are queued */
	POPPED = 1 << 2,
	/* the commit is in result->boundary */
	BOUNDARY = 1 << 3,
};

/*
 * A walk without haves that has found many commits is expected to visit all
 * commits. From then on, threads decode the commits ahead of the walk. "Many"
 * means at least AHEAD_AFTER commits, and at least one commit for every
 * AHEAD_AFTER_SHARE packed objects.
 */
#define AHEAD_AFTER 512
#define AHEAD_AFTER_SHARE 256

/*
 * When all queued commits are uninteresting, a walk that is not exact (see
 * revwalk.h) goes on a little. It ends after it has visited this number of
 * commits in a row, each older than every commit of the result.
 */
#define SLOP 5

struct walk {
	struct history *h;
	struct heap queue;
	uint8_t *flags; /* indexed by commit_nr */
	size_t flag_alloc;
	struct walk_end end;
	/* date of the oldest commit in the result */
	uint64_t oldest;
	/*
	 * number of commits that the walk may still visit: the limit of
	 * revwalk_within() minus the visits so far
	 */
	size_t left;
	/*
	 * True: there are no haves that could end the walk early, so the walk
	 * may visit all commits, and history_read_ahead() may save time. False:
	 * there are haves, or history_read_ahead() was called.
	 */
	bool may_be_long;
	/*
	 * Owned: scratch memory of mark_ancestors(). Each element is the
	 * commit_nr of a commit to visit.
	 */
	uint32_t *stack;
	size_t stack_alloc;
};

void revwalk_result_release(struct revwalk_result *result)
{
	free(result->commits);
	free(result->boundary);
	*result = (struct revwalk_result)REVWALK_RESULT_INIT;
}

static int append(uint32_t **items, size_t *nr, size_t *alloc, uint32_t item)
{
	if (mem_grow(items, alloc, *nr + 1, sizeof(**items)) < 0)
		return ERR_NOMEM;
	(*items)[(*nr)++] = item;
	return 0;
}

static int grow_flags(struct walk *w)
{
	size_t old = w->flag_alloc;

	if (w->h->nr <= old)
		return 0;
	if (mem_grow(&w->flags, &w->flag_alloc, w->h->nr, 1) < 0)
		return ERR_NOMEM;
	if (w->flag_alloc > old)
		memset(w->flags + old, 0, w->flag_alloc - old);
	return 0;
}

static void mark_uninteresting(struct walk *w, uint32_t c)
{
	uint8_t flags = w->flags[c];

	if (flags & UNINTERESTING)
		return;
	w->flags[c] |= UNINTERESTING;
	if ((flags & SEEN) && !(flags & POPPED))
		walk_end_lose(&w->end);
}

/*
 * Marks as uninteresting all ancestors of `c` that the walk has queued or
 * visited, and the parents of these ancestors. `c` has been queued.
 */
static int mark_ancestors(struct walk *w, uint32_t c)
{
	size_t nr = 0;

	if (append(&w->stack, &nr, &w->stack_alloc, c) < 0)
		return ERR_NOMEM;
	while (nr) {
		uint32_t at = w->stack[--nr];
		const uint32_t *parents = history_parents(w->h, at);

		for (uint32_t i = 0; i < w->h->commits[at].parent_nr; i++) {
			uint32_t p = parents[i];

			if (w->flags[p] & UNINTERESTING)
				continue;
			mark_uninteresting(w, p);
			if ((w->flags[p] & SEEN) &&
			    append(&w->stack, &nr, &w->stack_alloc, p) < 0)
				return ERR_NOMEM;
		}
	}
	return 0;
}

/*
 * Parses a commit and queues it. A missing commit that only haves reach is left
 * out.
 */
static int enqueue(struct walk *w, uint32_t c, struct error *err)
{
	int ret;

	if (w->flags[c] & SEEN)
		return 0;
	ret = history_parse(w->h, c, err);
	if (ret == ERR_MISSING && (w->flags[c] & UNINTERESTING))
		return 0;
	if (ret < 0)
		return ret;
	if (grow_flags(w) < 0 ||
	    heap_push(&w->queue, w->h->commits[c].date, c) < 0)
		return error_nomem(err);
	w->flags[c] |= SEEN;
	walk_end_enter(&w->end, c, !(w->flags[c] & UNINTERESTING));
	return 0;
}

/*
 * Queues the parents of `c`. If `c` is uninteresting, also marks the ancestors
 * of these parents as uninteresting, as soon as the parents are parsed.
 *
 * The reason: a missing commit is an error, unless it is marked as
 * uninteresting before the walk tries to parse it (enqueue()). Here, the
 * parents of a parent get the mark when the parent is queued, and not only when
 * the parent is taken from the queue.
 */
static int enqueue_parents(struct walk *w, uint32_t c, struct error *err)
{
	bool is_uninteresting = w->flags[c] & UNINTERESTING;

	for (uint32_t i = 0; i < w->h->commits[c].parent_nr; i++) {
		uint32_t p = history_parents(w->h, c)[i];
		int ret = enqueue(w, p, err);

		if (ret < 0)
			return ret;
		if (is_uninteresting && (w->flags[p] & SEEN) &&
		    mark_ancestors(w, p) < 0)
			return error_nomem(err);
	}
	return 0;
}

/*
 * Returns whether the walk is so long that all processors should decode the
 * remaining commits.
 */
static bool is_long(const struct walk *w, const struct revwalk_result *result)
{
	return w->may_be_long && result->nr >= AHEAD_AFTER &&
	       result->nr >= w->h->space->packed_nr / AHEAD_AFTER_SHARE;
}

static int add_result(struct walk *w, struct revwalk_result *result, uint32_t c)
{
	if (w->h->commits[c].date < w->oldest)
		w->oldest = w->h->commits[c].date;
	walk_end_select(&w->end, c);
	return append(&result->commits, &result->nr, &result->alloc, c);
}

static int pop_all(struct walk *w, struct revwalk_result *result, bool exact,
		   struct error *err)
{
	uint32_t c;

	while (!walk_end_is_settled(&w->end, w->oldest, exact) &&
	       heap_pop(&w->queue, &c)) {
		int ret;

		if (!w->left--)
			return 1;
		w->flags[c] |= POPPED;
		walk_end_leave(&w->end, c, !(w->flags[c] & UNINTERESTING));
		if (w->flags[c] & UNINTERESTING) {
			if (mark_ancestors(w, c) < 0)
				return error_nomem(err);
		} else {
			if (add_result(w, result, c) < 0)
				return error_nomem(err);
		}
		if (is_long(w, result)) {
			w->may_be_long = false;
			history_read_ahead(w->h);
		}
		ret = enqueue_parents(w, c, err);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/*
 * Removes from the result those commits that became uninteresting after they
 * were added.
 */
static void drop_uninteresting(const struct walk *w,
			       struct revwalk_result *result)
{
	size_t kept = 0;

	for (size_t i = 0; i < result->nr; i++)
		if (!(w->flags[result->commits[i]] & UNINTERESTING))
			result->commits[kept++] = result->commits[i];
	result->nr = kept;
}

static int collect_boundary(struct walk *w, struct revwalk_result *result)
{
	for (size_t i = 0; i < result->nr; i++) {
		uint32_t c = result->commits[i];
		const uint32_t *parents = history_parents(w->h, c);

		for (uint32_t k = 0; k < w->h->commits[c].parent_nr; k++) {
			uint8_t *flags = &w->flags[parents[k]];

			if ((*flags & BOUNDARY) || !(*flags & UNINTERESTING))
				continue;
			*flags |= BOUNDARY;
			if (append(&result->boundary, &result->boundary_nr,
				   &result->boundary_alloc, parents[k]) < 0)
				return ERR_NOMEM;
		}
	}
	return 0;
}

static int start(struct walk *w, const struct revwalk_tips *tips,
		 struct error *err)
{
	if (grow_flags(w) < 0)
		return error_nomem(err);
	for (size_t i = 0; i < tips->have_nr; i++)
		w->flags[tips->haves[i]] |= UNINTERESTING;
	for (size_t i = 0; i < tips->have_nr; i++) {
		int ret = enqueue(w, tips->haves[i], err);

		if (ret < 0)
			return ret;
		/*
		 * Mark the parents of the have before any commit is visited,
		 * because one of them can be a want. The walk visits commits by
		 * date, newest first. If the date of this want is not older
		 * than that of the have, the want can be visited before the
		 * have. If the want were not marked then, a missing parent of
		 * the want would be an error. The parent of a marked
		 * (uninteresting) commit may be missing.
		 */
		if ((w->flags[tips->haves[i]] & SEEN) &&
		    mark_ancestors(w, tips->haves[i]) < 0)
			return error_nomem(err);
	}
	/* If several commits have the same date, haves are visited first. */
	for (size_t i = 0; i < tips->want_nr; i++) {
		int ret = enqueue(w, tips->wants[i], err);

		if (ret < 0)
			return ret;
	}
	return 0;
}

static int run(struct revwalk_result *result, struct history *h,
	       const struct revwalk_tips *tips, bool exact, size_t limit,
	       struct error *err)
{
	struct walk w = {
		.h = h,
		.queue = HEAP_INIT,
		.oldest = UINT64_MAX,
		.left = limit,
		.may_be_long = !tips->have_nr,
	};
	int ret;

	/*
	 * pop_all() calls walk_end_is_settled() before each visit. So SLOP
	 * visits need SLOP + 1 calls.
	 */
	walk_end_init(&w.end, h, &w.queue, SLOP + 1);
	ret = start(&w, tips, err);
	if (!ret)
		ret = pop_all(&w, result, exact, err);
	if (ret >= 0)
		drop_uninteresting(&w, result);
	if (!ret && collect_boundary(&w, result) < 0)
		ret = error_nomem(err);
	heap_release(&w.queue);
	free(w.flags);
	free(w.stack);
	return ret;
}

int revwalk_run(struct revwalk_result *result, struct history *h,
		const struct revwalk_tips *tips, bool exact, struct error *err)
{
	return run(result, h, tips, exact, SIZE_MAX, err);
}

int revwalk_within(struct revwalk_result *result, struct history *h,
		   const struct revwalk_tips *tips, size_t limit,
		   struct error *err)
{
	return run(result, h, tips, false, limit, err);
}

struct frame {
	uint32_t commit;
	uint32_t next_parent;
};

struct topo {
	const struct history *h;
	/*
	 * Owned, indexed by commit_nr. 0: the commit is not in the array that
	 * is to be sorted; 1: it is in the array; 2: it is also on the stack or
	 * in the output.
	 */
	uint8_t *state;
	struct frame *stack;
	size_t nr, alloc;
	uint32_t *out;
	size_t out_nr;
};

static int topo_push(struct topo *t, uint32_t c)
{
	if (mem_grow(&t->stack, &t->alloc, t->nr + 1, sizeof(*t->stack)) < 0)
		return ERR_NOMEM;
	t->state[c] = 2;
	t->stack[t->nr++] = (struct frame){c, 0};
	return 0;
}

/* Appends `c` to the output, after all its ancestors that are in the array. */
static int topo_visit(struct topo *t, uint32_t c)
{
	if (topo_push(t, c) < 0)
		return ERR_NOMEM;
	while (t->nr) {
		struct frame *top = &t->stack[t->nr - 1];
		uint32_t p;

		if (top->next_parent == t->h->commits[top->commit].parent_nr) {
			t->out[t->out_nr++] = top->commit;
			t->nr--;
			continue;
		}
		p = history_parents(t->h, top->commit)[top->next_parent++];
		if (t->state[p] == 1 && topo_push(t, p) < 0)
			return ERR_NOMEM;
	}
	return 0;
}

/*
 * Appends all commits, tip by tip: for each tip, the commits that this tip
 * reaches and that no earlier tip reaches. Sets *trunk_nr to the number of
 * commits that the first tip reaches.
 */
static int topo_visit_tips(struct topo *t, const uint32_t *tips, size_t tip_nr,
			   size_t *trunk_nr)
{
	for (size_t i = 0; i < tip_nr; i++) {
		if (t->state[tips[i]] == 1 && topo_visit(t, tips[i]) < 0)
			return ERR_NOMEM;
		if (!i && trunk_nr)
			*trunk_nr = t->out_nr;
	}
	return 0;
}

int revwalk_parents_first(const struct history *h, uint32_t *commits, size_t nr,
			  const uint32_t *tips, size_t tip_nr, size_t *trunk_nr,
			  struct error *err)
{
	struct topo t = {.h = h};
	int ret = 0;

	if (trunk_nr)
		*trunk_nr = 0;

	t.state = mem_calloc(h->nr, 1);
	t.out = mem_alloc(nr, sizeof(*t.out));
	if (!t.state || !t.out) {
		ret = error_nomem(err);
		goto out;
	}
	for (size_t i = 0; i < nr; i++)
		t.state[commits[i]] = 1;
	if (topo_visit_tips(&t, tips, tip_nr, trunk_nr) < 0)
		ret = error_nomem(err);
	for (size_t i = nr; i-- && !ret;)
		if (t.state[commits[i]] == 1 && topo_visit(&t, commits[i]) < 0)
			ret = error_nomem(err);
	if (!ret && nr)
		memcpy(commits, t.out, nr * sizeof(*commits));
out:
	free(t.state);
	free(t.stack);
	free(t.out);
	return ret;
}
