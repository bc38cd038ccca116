/* SPDX-License-Identifier: MIT */
/* Looks up the paths of pathspecs in changed-path filters. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simplify/path-filters.h"

/*
 * Maximum number of hashes for a path. Filters whose settings have more hashes
 * are not used.
 */
#define HASH_NR_MAX 64

void path_filters_release(struct path_filters *f)
{
	free(f->keys);
	free(f->ends);
	*f = (struct path_filters)PATH_FILTERS_INIT;
}

/*
 * Returns the length of the longest path that every match of a pattern equals
 * or is below, or 0 if there is no such path. For example, all matches of
 * "a/b/c*" are below "a/b", so the length is 3.
 */
static size_t certain_len(const struct pathspec_item *item)
{
	size_t len = item->literal_len;

	if (item->is_icase)
		len = item->prefix_len;
	if (len == item->len)
		return item->name_len;
	while (len && item->match[len - 1] != '/')
		len--;
	return len ? len - 1 : 0;
}

static size_t count_keys(const struct pathspec_item *item)
{
	size_t nr = 1, len = certain_len(item);

	for (size_t i = 0; i < len; i++)
		nr += item->match[i] == '/';
	return nr;
}

static size_t add_keys(struct path_filters *f, size_t at,
		       const struct pathspec_item *item)
{
	size_t len = certain_len(item);

	for (size_t i = 1; i <= len; i++)
		if (i == len || item->match[i] == '/')
			f->keys[at++] = bloom_key(item->match, i,
						  f->settings.version);
	return at;
}

static int make_keys(struct path_filters *f, const struct pathspec *paths,
		     struct error *err)
{
	size_t nr = 0;

	for (size_t i = 0; i < paths->nr; i++)
		nr += count_keys(&paths->items[i]);
	f->keys = mem_alloc(nr, sizeof(*f->keys));
	f->ends = mem_alloc(paths->nr, sizeof(*f->ends));
	if (!f->keys || !f->ends)
		return error_nomem(err);
	nr = 0;
	for (size_t i = 0; i < paths->nr; i++) {
		if (paths->items[i].is_exclude)
			continue;
		nr = add_keys(f, nr, &paths->items[i]);
		f->ends[f->nr++] = nr;
	}
	return 0;
}

/*
 * Returns whether filters can exclude commits for this pathspec: every pattern
 * must begin with a path without wildcards, except patterns that exclude paths.
 */
static bool can_help(const struct pathspec *paths)
{
	for (size_t i = 0; i < paths->nr; i++)
		if (!paths->items[i].is_exclude &&
		    !certain_len(&paths->items[i]))
			return false;
	return paths->nr;
}

static bool are_usable(const struct bloom_settings *s, int64_t version)
{
	return (s->version == 1 || s->version == 2) && s->hash_nr &&
	       s->hash_nr <= HASH_NR_MAX &&
	       (version < 0 || s->version == (uint64_t)version);
}

int path_filters_init(struct path_filters *f, const struct commit_graph *graph,
		      const struct config *config, const struct pathspec *paths,
		      struct error *err)
{
	int64_t version;
	int ret;

	*f = (struct path_filters)PATH_FILTERS_INIT;
	ret = commit_graph_filter_version(&version, config, err);
	if (ret < 0)
		return ret;
	if (!graph || !version ||
	    !commit_graph_filter_version_is_known(version) ||
	    !can_help(paths) ||
	    !commit_graph_filter_settings(&f->settings, graph) ||
	    !are_usable(&f->settings, version))
		return 0;
	ret = make_keys(f, paths, err);
	if (!ret)
		f->graph = graph;
	return ret;
}

static bool has_any(const struct path_filters *f,
		    const struct commit_graph_filter *filter)
{
	size_t start = 0;

	for (size_t i = 0; i < f->nr; i++) {
		size_t at = f->ends[i];

		/*
		 * The longest path is in the fewest filters, so it is looked up
		 * first.
		 */
		while (at > start &&
		       bloom_filter_has(filter->bytes, filter->len,
					&f->keys[at - 1], &f->settings))
			at--;
		if (at == start)
			return true;
		start = f->ends[i];
	}
	return false;
}

enum path_filters_answer path_filters_ask(struct path_filters *f,
					  uint32_t graph_pos)
{
	struct commit_graph_filter filter;

	commit_graph_filter(&filter, f->graph, graph_pos, &f->settings);
	if (!filter.len) {
		f->absent_nr++;
		return PATH_FILTERS_ABSENT;
	}
	if (has_any(f, &filter)) {
		f->maybe_nr++;
		return PATH_FILTERS_MAYBE;
	}
	f->no_nr++;
	return PATH_FILTERS_NO;
}
