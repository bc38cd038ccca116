/* SPDX-License-Identifier: MIT */
/*
 * Computes the new-object lists of many commits, in parallel.
 * trees/treediff.c compares the trees.
 */
#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "sys/process.h"
#include "sys/thread.h"
#include "walk/newobj.h"

/*
 * A chunk is a run of commits that a thread takes at a time. Neighbouring
 * commits share most trees, so chunks should be large. But all threads must get
 * equal amounts of work, so there should be CHUNKS_PER_THREAD chunks for each
 * thread.
 */
#define CHUNK_COMMITS_MIN 256
#define CHUNK_COMMITS_MAX 4096
#define CHUNKS_PER_THREAD 8
#define MAX_CACHE_LIMIT ((size_t)48 << 20) /* per thread */

/*
 * A look-up table of all ids is made if there are at least ACCELERATE_COMMITS
 * commits, and at least one commit for every ACCELERATE_SHARE objects. With
 * fewer commits, making the table costs more than it saves.
 */
#define ACCELERATE_COMMITS 512
#define ACCELERATE_SHARE 64

struct newobj_chunk {
	struct treediff_object *items; /* owned */
	size_t nr, alloc;
};

struct compute {
	struct newobj_set *set;
	const struct history *h;
	const uint32_t *commits;
	size_t nr;
	/*
	 * owned: indexes of the array `commits`, sorted by the dates of the
	 * commits; threads take the commits in this order
	 */
	uint32_t *turns;
	/* number of commits in a chunk */
	size_t chunk_len;
	struct treediff **differs; /* indexed by thread_nr */
	unsigned threads;
	/*
	 * owned array, indexed by chunk: set when a thread has taken the chunk
	 */
	_Atomic bool *taken;
	struct progress progress;
};

static int append_items(struct newobj_chunk *chunk,
			const struct treediff_object *items, size_t nr)
{
	if (mem_grow(&chunk->items, &chunk->alloc, chunk->nr + nr,
		     sizeof(*items)) < 0)
		return ERR_NOMEM;
	if (nr)
		memcpy(chunk->items + chunk->nr, items, nr * sizeof(*items));
	chunk->nr += nr;
	return 0;
}

static int compute_commit(struct compute *c, struct treediff *differ,
			  struct newobj_chunk *chunk, size_t index,
			  struct error *err)
{
	struct newobj_list *list = &c->set->lists[index];
	const struct history_commit *commit = &c->h->commits[c->commits[index]];
	uint32_t parents[TREEDIFF_MAX_PARENTS];
	struct treediff_result result;
	unsigned parent_nr = 0;
	int ret;

	while (parent_nr < commit->parent_nr &&
	       parent_nr < TREEDIFF_MAX_PARENTS) {
		uint32_t p = history_parents(c->h,
					     c->commits[index])[parent_nr];

		parents[parent_nr++] = c->h->commits[p].tree_pos;
	}
	ret = treediff_run(differ, commit->tree_pos, parents, parent_nr,
			   (uint32_t)index, &result, err);
	if (ret < 0)
		return ret;
	list->tree_nr = (uint32_t)result.tree_nr;
	list->nr = (uint32_t)(result.tree_nr + result.blob_nr);
	if (append_items(chunk, result.trees, result.tree_nr) < 0 ||
	    append_items(chunk, result.blobs, result.blob_nr) < 0)
		return error_nomem(err);
	return 0;
}

/*
 * Sets the pointers of the lists [first, last) to their objects in the chunk's
 * array. The array must be complete, because an array that grows can move in
 * memory.
 */
static void settle_chunk(struct compute *c, struct newobj_chunk *chunk,
			 size_t first, size_t last)
{
	struct treediff_object *fitted;
	size_t off = 0;

	fitted = realloc(chunk->items,
			 (chunk->nr ? chunk->nr : 1) * sizeof(*fitted));
	if (fitted)
		chunk->items = fitted;
	for (size_t i = first; i < last; i++) {
		struct newobj_list *list = &c->set->lists[c->turns[i]];

		list->items = chunk->items + off;
		off += list->nr;
	}
}

/*
 * Takes the next chunk for a thread, and returns its index. Each thread starts
 * at a different chunk and takes consecutive chunks, because the trees decoded
 * for one chunk help with the next. The function is called once for each chunk
 * of the set, so a chunk that is not taken yet is always found.
 */
static size_t take_chunk(struct compute *c, unsigned thread_nr)
{
	size_t nr = c->set->chunk_nr, i = nr * thread_nr / c->threads;

	while (atomic_exchange(&c->taken[i], true))
		i = i + 1 == nr ? 0 : i + 1;
	return i;
}

static int compute_chunk(void *ctx, unsigned thread_nr, size_t task_nr,
			 struct error *err)
{
	struct compute *c = ctx;
	size_t chunk_nr = take_chunk(c, thread_nr);
	struct newobj_chunk *chunk = &c->set->chunks[chunk_nr];
	size_t first = chunk_nr * c->chunk_len;
	size_t last = c->nr - first < c->chunk_len ? c->nr
						   : first + c->chunk_len;

	for (size_t i = first; i < last; i++) {
		int ret = compute_commit(c, c->differs[thread_nr], chunk,
					 c->turns[i], err);

		if (ret < 0)
			return ret;
	}
	settle_chunk(c, chunk, first, last);
	return progress_step(&c->progress, last - first + chunk->nr, err);
}

/*
 * Fills c->turns: sorts the commits by date. Commits of similar dates share
 * most trees, even if they are on different branches. So in this order, most
 * trees are found in the cache.
 */
static int take_turns(struct compute *c)
{
	struct sort_item *by_date = mem_alloc(c->nr, sizeof(*by_date));
	int ret;

	c->turns = mem_alloc(c->nr, sizeof(*c->turns));
	ret = by_date && c->turns ? 0 : ERR_NOMEM;
	for (size_t i = 0; i < c->nr && !ret; i++)
		by_date[i] = (struct sort_item){
			c->h->commits[c->commits[i]].date, (uint32_t)i};
	if (!ret)
		ret = sort_items(by_date, c->nr);
	for (size_t i = 0; i < c->nr && !ret; i++)
		c->turns[i] = by_date[i].value;
	free(by_date);
	return ret;
}

/*
 * Parses the parents of all commits, because the tree of a commit is compared
 * with the trees of its parents. A parent may be outside the array.
 */
static int parse_parents(struct history *h, const uint32_t *commits, size_t nr,
			 struct error *err)
{
	for (size_t i = 0; i < nr; i++) {
		for (uint32_t k = 0; k < h->commits[commits[i]].parent_nr;
		     k++) {
			uint32_t p = history_parents(h, commits[i])[k];
			int ret = history_parse(h, p, err);

			if (ret < 0)
				return ret;
		}
	}
	return 0;
}

/*
 * Returns the limit in bytes of one thread's cache of decoded trees (struct
 * tree_table). The thread's pool of tree entries has a limit of the same size.
 * `all` is the memory limit of all threads together, or 0 for none.
 */
static size_t cache_limit(uint64_t all, unsigned threads)
{
	uint64_t limit = all / 2 / threads / 2;

	return all && limit < MAX_CACHE_LIMIT ? (size_t)limit : MAX_CACHE_LIMIT;
}

static int compute_all(struct compute *c, const struct newobj_options *options,
		       struct treediff_shared *shared, unsigned threads,
		       struct error *err)
{
	const struct treediff_options diff = {
		.known = options->known,
		.trees_only = options->trees_only,
		.grouping = options->grouping,
		.cache_limit = cache_limit(options->memory_limit, threads),
	};
	int ret = 0;

	c->threads = threads;
	if (take_turns(c) < 0)
		ret = error_nomem(err);
	c->taken = mem_calloc(c->set->chunk_nr, sizeof(*c->taken));
	c->differs = mem_calloc(threads, sizeof(*c->differs));
	if (!c->taken || !c->differs)
		ret = error_nomem(err);
	for (unsigned i = 0; i < threads && !ret; i++) {
		c->differs[i] = treediff_new(c->h->space, shared, &diff);
		if (!c->differs[i])
			ret = error_nomem(err);
	}
	if (!ret)
		ret = sys_parallel(threads, c->set->chunk_nr, compute_chunk, c,
				   err);
	for (unsigned i = 0; c->differs && i < threads; i++)
		treediff_free(c->differs[i]);
	free(c->differs);
	free(c->taken);
	free(c->turns);
	return ret;
}

static size_t chunk_len(size_t nr, unsigned threads)
{
	size_t len = nr / threads / CHUNKS_PER_THREAD;

	if (len < CHUNK_COMMITS_MIN)
		return CHUNK_COMMITS_MIN;
	return len < CHUNK_COMMITS_MAX ? len : CHUNK_COMMITS_MAX;
}

/*
 * Returns freed memory to the operating system if the caller has set a memory
 * limit.
 */
static void trim(const struct newobj_options *options)
{
	if (options->memory_limit)
		sys_memory_trim();
}

int newobj_compute(struct newobj_set *set, struct history *h,
		   const uint32_t *commits, size_t nr,
		   const struct newobj_options *options, struct error *err)
{
	struct compute c = {.set = set, .h = h, .commits = commits, .nr = nr};
	struct treediff_shared shared = {NULL, 0};
	unsigned threads = options->threads ? options->threads : sys_cpu_nr();
	int ret = parse_parents(h, commits, nr, err);

	if (ret < 0)
		return ret;
	if (nr >= ACCELERATE_COMMITS &&
	    nr >= h->space->packed_nr / ACCELERATE_SHARE)
		objspace_accelerate(h->space);
	set->nr = nr;
	c.chunk_len = chunk_len(nr, threads);
	set->chunk_nr = (nr + c.chunk_len - 1) / c.chunk_len;
	set->lists = mem_calloc(nr, sizeof(*set->lists));
	set->chunks = mem_calloc(set->chunk_nr, sizeof(*set->chunks));
	if (!set->lists || !set->chunks)
		return error_nomem(err);
	if (options->union_only &&
	    treediff_shared_init(&shared, h->space->packed_nr) < 0)
		return error_nomem(err);
	if (threads > set->chunk_nr)
		threads = set->chunk_nr ? (unsigned)set->chunk_nr : 1;
	trim(options);
	progress_start(&c.progress, options->progress, "Enumerating objects",
		       0);
	ret = compute_all(&c, options, options->union_only ? &shared : NULL,
			  threads, err);
	progress_stop(&c.progress);
	treediff_shared_release(&shared);
	trim(options);
	return ret;
}

uint64_t newobj_size(const struct newobj_set *set)
{
	uint64_t size = (uint64_t)set->nr * sizeof(*set->lists);

	for (size_t i = 0; i < set->chunk_nr; i++)
		size += (uint64_t)set->chunks[i].nr *
			sizeof(*set->chunks[i].items);
	return size;
}

void newobj_release(struct newobj_set *set)
{
	for (size_t i = 0; set->chunks && i < set->chunk_nr; i++)
		free(set->chunks[i].items);
	free(set->chunks);
	free(set->lists);
	*set = (struct newobj_set)NEWOBJ_SET_INIT;
}
