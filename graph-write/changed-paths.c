/* SPDX-License-Identifier: MIT */
/*
 * Computes changed-path filters. Each thread processes commits along first
 * parents. So the tree of a first parent is needed twice in a row, and the
 * thread's cache has it the second time.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "graph-write/graph-content.h"
#include "graph-write/path-changes.h"
#include "sys/thread.h"

#define TASK_COMMITS 256
/* maximum number of bytes in each thread's cache of trees */
#define CACHE_LIMIT ((size_t)48 << 20)
/* result of take_path() if a commit has changed too many paths for a filter */
#define STOPPED 1

/*
 * The entries of the changed-path filter of one commit: keys of the changed
 * paths and of their directories.
 */
struct entries {
	struct bloom_key keys[BLOOM_ENTRIES_MAX * 2];
	size_t nr;
	/* the last path for which take_path() was called */
	struct buf last;
	uint32_t version;
};

struct worker {
	struct path_changes *diff;
	struct entries entries;
};

struct computing {
	struct changed_paths *out;
	struct history *h;
	const struct graph_records *r;
	const struct changed_paths_options *o;
	/*
	 * owned: indexes of the records whose filters are computed, in the
	 * order in which threads take them
	 */
	uint32_t *todo;
	size_t todo_nr;
	/*
	 * owned array, indexed by record: number of the thread that made the
	 * filter
	 */
	uint32_t *spans;
	/*
	 * owned array, indexed by record: offset of the filter in the buffer of
	 * the thread that made the filter
	 */
	size_t *starts;
	struct worker *workers; /* indexed by thread */
	struct progress meter;
};

/* ---- entries */

static int cmp_keys(const void *va, const void *vb)
{
	const struct bloom_key *a = va, *b = vb;

	if (a->h0 != b->h0)
		return a->h0 < b->h0 ? -1 : 1;
	return a->h1 < b->h1 ? -1 : a->h1 > b->h1;
}

/*
 * Removes duplicate entries. A changed path occurs twice only if a file was
 * replaced by a directory, or a directory by a file.
 */
static void drop_doubles(struct entries *e)
{
	size_t nr = 0;

	qsort(e->keys, e->nr, sizeof(*e->keys), cmp_keys);
	for (size_t i = 0; i < e->nr; i++)
		if (!nr || cmp_keys(&e->keys[nr - 1], &e->keys[i]) != 0)
			e->keys[nr++] = e->keys[i];
	e->nr = nr;
}

static int add_entry(struct entries *e, const char *path, size_t len)
{
	if (e->nr == ARRAY_NR(e->keys)) {
		drop_doubles(e);
		if (e->nr > BLOOM_ENTRIES_MAX)
			return STOPPED;
	}
	e->keys[e->nr++] = bloom_key(path, len, e->version);
	return 0;
}

/*
 * Adds a changed path, and the directories above it. Directories that are also
 * above the previous path were added with that path, and are not added again.
 */
static int take_path(void *ctx, const char *path, size_t len,
		     enum path_change change)
{
	struct entries *e = ctx;
	size_t common = 0;
	int ret = 0;

	while (common < len && common < e->last.len &&
	       path[common] == e->last.data[common])
		common++;
	for (size_t i = common; !ret && i < len; i++)
		if (path[i] == '/')
			ret = add_entry(e, path, i);
	if (!ret)
		ret = add_entry(e, path, len);
	buf_reset(&e->last);
	if (!ret && buf_append(&e->last, path, len) < 0)
		ret = ERR_NOMEM;
	return ret;
}

/* ---- one commit */

static uint32_t tree_of(const struct computing *c, uint32_t commit_nr)
{
	return c->h->commits[commit_nr].tree_pos;
}

/*
 * Appends the bytes of a commit's filter, which has the entries `e`. Returns
 * the length of the filter, or 0 if memory runs out.
 */
static size_t put_filter(struct buf *out, struct entries *e, bool is_large,
			 const struct bloom_settings *settings)
{
	size_t start = out->len, len;

	if (is_large)
		return buf_append_char(out, (char)0xff) < 0 ? 0 : 1;
	len = bloom_filter_len(e->nr, settings);
	if (buf_reserve(out, len) < 0)
		return 0;
	memset(out->data + start, 0, len);
	buf_set_len(out, start + len);
	for (size_t i = 0; i < e->nr; i++)
		bloom_filter_add((uint8_t *)out->data + start, len, &e->keys[i],
				 settings);
	return len;
}

static int do_commit(struct computing *c, unsigned thread_nr, uint32_t record,
		     struct error *err)
{
	uint32_t commit_nr = c->r->commit_nrs[record];
	const struct history_commit *commit = &c->h->commits[commit_nr];
	struct buf *out = &c->out->bytes[thread_nr];
	struct worker *w = &c->workers[thread_nr];
	uint32_t parent = PATH_CHANGES_NO_TREE;
	size_t len;
	int ret;

	if (commit->parent_nr)
		parent = tree_of(c, history_parents(c->h, commit_nr)[0]);
	w->entries.nr = 0;
	buf_reset(&w->entries.last);
	ret = path_changes_run(w->diff, commit->tree_pos, parent, take_path,
			       &w->entries, err);
	if (ret < 0)
		return ret == ERR_NOMEM ? error_nomem(err) : ret;
	if (ret != STOPPED)
		drop_doubles(&w->entries);
	c->spans[record] = thread_nr;
	c->starts[record] = out->len;
	len = put_filter(out, &w->entries,
			 ret == STOPPED || w->entries.nr > BLOOM_ENTRIES_MAX,
			 &c->o->settings);
	c->out->filters[record].len = (uint32_t)len;
	return len ? 0 : error_nomem(err);
}

static int run_task(void *ctx, unsigned thread_nr, size_t task_nr,
		    struct error *err)
{
	struct computing *c = ctx;
	size_t start = task_nr * TASK_COMMITS, end = start + TASK_COMMITS;
	int ret = 0;

	if (end > c->todo_nr)
		end = c->todo_nr;
	for (size_t i = start; !ret && i < end; i++)
		ret = do_commit(c, thread_nr, c->todo[i], err);
	progress_add(&c->meter, end - start);
	return ret;
}

/* ---- planning */

/*
 * Copies changed-path filters from the old commit-graph, for all commits that
 * have one there.
 */
static void reuse(struct computing *c)
{
	for (uint32_t i = 0; c->o->old && i < c->r->nr; i++) {
		struct commit_graph_filter *f = &c->out->filters[i];
		uint32_t graph_pos;

		if (commit_graph_find(c->o->old, c->r->records[i].oid.bytes,
				      &graph_pos))
			commit_graph_filter(f, c->o->old, graph_pos,
					    &c->o->settings);
	}
}

/*
 * Chooses the records whose filters are computed: those without a filter in the
 * old commit-graph. If there are more of them than the limit allows, chooses
 * the records with the lowest corrected dates.
 */
static int choose(struct computing *c, uint8_t *chosen, struct error *err)
{
	struct sort_item *items = mem_alloc(c->r->nr, sizeof(*items));
	size_t nr = 0;
	int ret = 0;

	if (!items)
		return error_nomem(err);
	for (uint32_t i = 0; i < c->r->nr; i++)
		if (!c->out->filters[i].len)
			items[nr++] = (struct sort_item){
				c->r->records[i].corrected, i};
	if (c->o->max_new >= 0 && (uint64_t)c->o->max_new < nr) {
		ret = sort_items(items, nr);
		nr = (size_t)c->o->max_new;
	}
	for (size_t i = 0; !ret && i < nr; i++)
		chosen[c->r->commit_nrs[items[i].value]] = 1;
	c->todo_nr = nr;
	free(items);
	return ret < 0 ? error_nomem(err) : 0;
}

/*
 * Orders the chosen commits along first parents: a commit is followed by its
 * first parent, if that parent is chosen and has no place yet.
 */
static int put_in_order(struct computing *c, uint8_t *chosen, struct error *err)
{
	uint32_t *record_of = mem_alloc(c->h->nr, sizeof(*record_of));
	size_t nr = 0;

	c->todo = mem_alloc(c->todo_nr, sizeof(*c->todo));
	if (!record_of || !c->todo) {
		free(record_of);
		return error_nomem(err);
	}
	for (uint32_t i = 0; i < c->r->nr; i++)
		record_of[c->r->commit_nrs[i]] = i;
	for (uint32_t i = 0; i < c->h->nr; i++) {
		uint32_t at = i;

		while (chosen[at]) {
			chosen[at] = 0;
			c->todo[nr++] = record_of[at];
			if (!c->h->commits[at].parent_nr)
				break;
			at = history_parents(c->h, at)[0];
		}
	}
	free(record_of);
	return 0;
}

/*
 * Reads the first parents that are in lower layers of the chain. The walk over
 * the new commits has not read these parents, but filters are computed from
 * their trees.
 */
static int read_parents(struct computing *c, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < c->todo_nr; i++) {
		uint32_t commit_nr = c->r->commit_nrs[c->todo[i]];

		if (c->h->commits[commit_nr].parent_nr)
			ret = history_parse(
				c->h, history_parents(c->h, commit_nr)[0], err);
	}
	return ret;
}

static int plan(struct computing *c, struct error *err)
{
	uint8_t *chosen = mem_calloc(c->h->nr, sizeof(*chosen));
	int ret = chosen ? choose(c, chosen, err) : error_nomem(err);

	if (!ret)
		ret = put_in_order(c, chosen, err);
	if (!ret)
		ret = read_parents(c, err);
	free(chosen);
	return ret;
}

/* ---- all commits */

static int open_workers(struct computing *c, struct objspace *space)
{
	unsigned nr = c->out->thread_nr;

	c->out->bytes = mem_calloc(nr, sizeof(*c->out->bytes));
	c->workers = mem_calloc(nr, sizeof(*c->workers));
	c->spans = mem_alloc(c->r->nr, sizeof(*c->spans));
	c->starts = mem_alloc(c->r->nr, sizeof(*c->starts));
	if (!c->out->bytes || !c->workers || !c->spans || !c->starts)
		return ERR_NOMEM;
	for (unsigned t = 0; t < nr; t++) {
		buf_init(&c->out->bytes[t]);
		buf_init(&c->workers[t].entries.last);
		c->workers[t].entries.version = c->o->settings.version;
	}
	for (unsigned t = 0; t < nr; t++) {
		c->workers[t].diff = path_changes_new(space, CACHE_LIMIT);
		if (!c->workers[t].diff)
			return ERR_NOMEM;
	}
	return 0;
}

static void close_workers(struct computing *c)
{
	for (unsigned t = 0; c->workers && t < c->out->thread_nr; t++) {
		path_changes_free(c->workers[t].diff);
		if (c->workers[t].entries.last.data)
			buf_release(&c->workers[t].entries.last);
	}
	free(c->workers);
	free(c->spans);
	free(c->starts);
	free(c->todo);
}

/*
 * Lets each computed filter point to its bytes in the buffer of a thread. Must
 * be called when all filters are complete, because a buffer that grows can move
 * in memory.
 */
static void settle(struct computing *c)
{
	for (size_t i = 0; i < c->todo_nr; i++) {
		uint32_t record = c->todo[i];
		const struct buf *b = &c->out->bytes[c->spans[record]];

		c->out->filters[record].bytes = (const uint8_t *)b->data +
						c->starts[record];
	}
}

int changed_paths_compute(struct changed_paths *out, struct graph_commits *gc,
			  const struct graph_records *records,
			  const struct changed_paths_options *options,
			  struct error *err)
{
	struct computing c = {
		.out = out,
		.h = &gc->walk.history,
		.r = records,
		.o = options,
	};
	int ret = 0;

	*out = (struct changed_paths)CHANGED_PATHS_INIT;
	out->thread_nr = options->threads ? options->threads : sys_cpu_nr();
	out->filters = mem_calloc(records->nr, sizeof(*out->filters));
	if (!out->filters)
		return error_nomem(err);
	reuse(&c);
	ret = plan(&c, err);
	if (!ret && open_workers(&c, &gc->walk.space) < 0)
		ret = error_nomem(err);
	if (!ret) {
		objspace_accelerate(&gc->walk.space);
		progress_start(&c.meter, options->progress,
			       "Computing commit changed paths Bloom filters",
			       c.todo_nr);
		ret = sys_parallel(out->thread_nr,
				   (c.todo_nr + TASK_COMMITS - 1) /
					   TASK_COMMITS,
				   run_task, &c, err);
		progress_stop(&c.meter);
	}
	if (!ret)
		settle(&c);
	close_workers(&c);
	return ret;
}

void changed_paths_release(struct changed_paths *c)
{
	for (unsigned t = 0; c->bytes && t < c->thread_nr; t++)
		if (c->bytes[t].data)
			buf_release(&c->bytes[t]);
	free(c->bytes);
	free(c->filters);
	*c = (struct changed_paths)CHANGED_PATHS_INIT;
}
