/* SPDX-License-Identifier: MIT */
/*
 * Computes generation numbers of commits by a depth-first walk with an explicit
 * stack.
 */
#include "base/mem.h"
#include "graph-write/graph-content.h"

/* A commit on the stack: its parents are being visited. */
struct frame {
	uint32_t record;
	uint32_t next; /* index of the next parent */
};

struct walker {
	const struct commit_graph_generations *l;
	struct frame *stack;
	size_t nr, alloc;
	struct progress meter;
	struct error *err;
};

static int push(struct walker *w, uint32_t record)
{
	/*
	 * Without a cycle, each commit is on the stack at most once. So if all
	 * commits are on the stack and one more is pushed, some commit is its
	 * own ancestor.
	 */
	if (w->nr >= w->l->nr)
		return error_set(w->err, ERR_CORRUPT,
				 "a commit is its own ancestor");
	if (mem_grow(&w->stack, &w->alloc, w->nr + 1, sizeof(*w->stack)) < 0)
		return error_nomem(w->err);
	w->stack[w->nr++] = (struct frame){record, 0};
	return 0;
}

/*
 * Makes both generation numbers of a commit larger than those of one parent, if
 * they are not larger already. A number that is the largest possible one stays:
 * a client may push a commit with any date.
 */
static void raise(struct commit_graph_record *r,
		  const struct commit_graph_generation *parent)
{
	if (r->generation <= parent->number)
		r->generation = parent->number < COMMIT_GRAPH_GENERATION_MAX
					? parent->number + 1
					: COMMIT_GRAPH_GENERATION_MAX;
	if (r->corrected <= parent->corrected)
		r->corrected = parent->corrected < UINT64_MAX
				       ? parent->corrected + 1
				       : UINT64_MAX;
}

/*
 * Gets the generation numbers of a parent. Returns 1 with *generation set, or a
 * negative error code. Returns 0 if the numbers are not known yet. In this case
 * the parent was pushed on the stack, so that its numbers are computed next.
 */
static int get_parent(struct walker *w, uint32_t graph_pos,
		      struct commit_graph_generation *generation)
{
	const struct commit_graph_generations *l = w->l;
	const struct commit_graph_record *r;

	if (graph_pos < l->below_nr) {
		int ret = l->below(l->ctx, graph_pos, generation, w->err);

		return ret < 0 ? ret : 1;
	}
	if (graph_pos - l->below_nr >= l->nr)
		return error_set(w->err, ERR_CORRUPT,
				 "a commit has a parent that is not in the "
				 "commit-graph");
	r = &l->records[graph_pos - l->below_nr];
	if (!r->generation)
		return push(w, graph_pos - l->below_nr);
	*generation = (struct commit_graph_generation){r->corrected,
						       r->generation};
	return 1;
}

/*
 * Computes the generation numbers of a commit, whose parents must have their
 * numbers already. Returns 0 or a negative error code.
 */
static int number(struct walker *w, struct commit_graph_record *r)
{
	const uint32_t *parents = w->l->parents + r->first_parent;

	r->generation = 1;
	r->corrected = r->date ? r->date : 1;
	for (uint32_t i = 0; i < r->parent_nr; i++) {
		struct commit_graph_generation parent;
		int ret = get_parent(w, parents[i], &parent);

		if (ret < 0)
			return ret;
		raise(r, &parent);
	}
	progress_add(&w->meter, 1);
	return 0;
}

/* Continues with the next parent of the commit on top of the stack. */
static int step(struct walker *w)
{
	struct frame *f = &w->stack[w->nr - 1];
	struct commit_graph_record *r = &w->l->records[f->record];
	struct commit_graph_generation ignored;

	while (!r->generation && f->next < r->parent_nr) {
		int ret = get_parent(
			w, w->l->parents[r->first_parent + f->next], &ignored);

		/*
		 * 0: the parent has no numbers yet, so get_parent() has pushed
		 * it on the stack. When its numbers are computed, step()
		 * continues with this commit and asks for the same parent
		 * again.
		 */
		if (ret <= 0)
			return ret;
		f->next++;
	}
	w->nr--;
	return r->generation ? 0 : number(w, r);
}

int commit_graph_generations_compute(const struct commit_graph_generations *l,
				     struct error *err)
{
	struct walker w = {.l = l, .err = err};
	int ret = 0;

	progress_start(&w.meter, l->progress,
		       "Computing commit graph generation numbers", l->nr);
	for (uint32_t i = 0; !ret && i < l->nr; i++) {
		if (l->records[i].generation)
			continue;
		ret = push(&w, i);
		while (!ret && w.nr)
			ret = step(&w);
	}
	progress_stop(&w.meter);
	free(w.stack);
	return ret;
}
