/* SPDX-License-Identifier: MIT */
/* Downloads files of a generation into the cache. */
#include <string.h>

#include "base/mem.h"
#include "stored/cache.h"
#include "stored/fetch.h"
#include "stored/side.h"
#include "sys/thread.h"

/*
 * The side bundle (stored/side.h) is downloaded if it replaces at least this
 * number of files.
 */
#define SIDE_MIN 2

struct gathering {
	const struct stored_gather *how;
	/*
	 * owned array: the files that the parallel loop downloads, one in each
	 * task
	 */
	const struct generation_file **tasks;
	size_t nr;
	/*
	 * the side bundle, which is then tasks[0]; NULL: the bundle is not
	 * downloaded
	 */
	const struct generation_file *bundle;
	/* map of the bundle; valid if `has_map` */
	struct sys_map map;
	bool has_map;
	struct stored_side side;
};

/*
 * Downloads the bundle, and parses it. If this fails, the files of the bundle
 * are downloaded one by one.
 */
static void fetch_bundle(struct gathering *g)
{
	struct error ignored = ERROR_INIT;

	g->has_map = !stored_cache_borrow(g->how->cache, &g->map, g->how->place,
					  g->bundle, &ignored);
	if (g->has_map)
		stored_side_parse(&g->side, g->map.data, g->map.len, &ignored);
}

/*
 * Puts a file into the cache from the downloaded bundle. Returns whether the
 * bundle had the file and the cache has it now.
 */
static bool take_part(const struct gathering *g,
		      const struct generation_file *file)
{
	const struct stored_side_part *part = stored_side_find(&g->side,
							       file->sha256);
	struct error ignored = ERROR_INIT;

	return part && !stored_cache_put(g->how->cache, file, part->bytes,
					 (size_t)part->size, &ignored);
}

static int fetch_file(const struct gathering *g,
		      const struct generation_file *file, struct error *err)
{
	struct buf path = BUF_INIT;
	int ret;

	ret = stored_cache_file(g->how->cache, &path, g->how->place, file, err);
	buf_release(&path);
	return ret;
}

/*
 * Runs task `nr` of the parallel loop. Each task downloads one file of
 * g->tasks. If there is a callback also(), task 0 calls it instead, and the
 * task n downloads the file n - 1. One of the files can be g->bundle, which
 * contains many small files. The task that downloads the bundle also parses it
 * into g->side. No other task uses g->side, so no lock is needed.
 */
static int run_task(void *ctx, unsigned thread_nr, size_t nr, struct error *err)
{
	struct gathering *g = ctx;

	(void)thread_nr;
	if (g->how->also && !nr--)
		return g->how->also(g->how->ctx, err);
	if (g->tasks[nr] == g->bundle) {
		fetch_bundle(g);
		return 0;
	}
	return fetch_file(g, g->tasks[nr], err);
}

/*
 * Puts one file of the downloaded bundle into the cache. Does nothing if the
 * cache has the file already, because another file has the same content.
 */
static int run_part(void *ctx, unsigned thread_nr, size_t nr, struct error *err)
{
	const struct gathering *g = ctx;
	const struct generation_file *file = g->tasks[nr];

	(void)thread_nr;
	if (!stored_cache_has(g->how->cache, file) && take_part(g, file))
		return 0;
	return fetch_file(g, file, err);
}

static bool is_missing(const struct gathering *g, size_t nr)
{
	const struct stored_gather *how = g->how;
	const struct generation_file *file = &how->g->files[nr];

	return how->needed[nr] && !stored_side_is(file->path) &&
	       !stored_cache_has(how->cache, file);
}

/*
 * Sets g->bundle to the side bundle of the generation: one file with the
 * content of many small files of the generation (stored/side.h). Does this only
 * if downloading the bundle replaces at least SIDE_MIN downloads of small
 * files. Otherwise sets g->bundle to NULL.
 */
static void choose_bundle(struct gathering *g)
{
	const struct generation *gen = g->how->g;
	size_t small = 0;

	for (size_t i = 0; i < gen->file_nr; i++) {
		if (g->how->needed[i] && stored_side_is(gen->files[i].path))
			g->bundle = &gen->files[i];
		small += !g->bundle && stored_side_takes(&gen->files[i]) &&
			 is_missing(g, i);
	}
	if (small < SIDE_MIN ||
	    (g->bundle && g->bundle->size > STORED_SIDE_MAX))
		g->bundle = NULL;
}

/*
 * Adds missing files to the download tasks. With `from_bundle`, adds the files
 * that are probably in the side bundle g->bundle (one file with the content of
 * many small files). Otherwise adds all other missing files.
 *
 * A record lists its side bundle after the files that are in the bundle, and
 * before the files of later pushes. So a file is probably in the bundle if two
 * conditions are met: the record lists the file before the bundle, and
 * stored_side_takes() says that a bundle may contain a file of this size and
 * kind.
 */
static void list_tasks(struct gathering *g, bool from_bundle)
{
	const struct generation_file *files = g->how->g->files;

	for (size_t i = 0; i < g->how->g->file_nr; i++) {
		bool is_part = g->bundle && &files[i] < g->bundle &&
			       stored_side_takes(&files[i]);

		if (is_part == from_bundle && is_missing(g, i))
			g->tasks[g->nr++] = &files[i];
	}
}

int stored_gather(const struct stored_gather *how, struct error *err)
{
	struct gathering g = {
		.how = how,
		.tasks = mem_alloc(how->g->file_nr + 1, sizeof(*g.tasks)),
	};
	int ret;

	if (!g.tasks)
		return error_nomem(err);
	choose_bundle(&g);
	if (g.bundle)
		g.tasks[g.nr++] = g.bundle;
	list_tasks(&g, false);
	ret = sys_parallel(STORED_DOWNLOADS, g.nr + (how->also != NULL),
			   run_task, &g, err);
	if (!ret && g.bundle) {
		g.nr = 0;
		list_tasks(&g, true);
		ret = sys_parallel(STORED_DOWNLOADS, g.nr, run_part, &g, err);
	}
	stored_side_release(&g.side);
	if (g.has_map)
		sys_map_close(&g.map);
	free(g.tasks);
	return ret;
}
