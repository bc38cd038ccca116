/* SPDX-License-Identifier: MIT */
/*
 * Tests of simplify/path-filters.c, which asks changed-path Bloom filters
 * whether a commit changes paths of a pathspec. If a commit changes such a
 * path, the answer must never be "no".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "simplify/path-filters.h"
#include "t/unit/pathspecs.h"
#include "t/unit/walkrepo.h"
#include "t/unit/writtengraph.h"

struct fixture {
	struct walkrepo f;
	struct commit_graph *graph;
};

/* Makes a history, and a commit-graph of all its commits with Bloom filters. */
static void setup(struct fixture *x, uint64_t *seed, int64_t version)
{
	struct commit_graph_options w;

	walkrepo_init(&x->f, HASH_SHA1, seed, 40, 10);
	randrepo_all_refs(&x->f.h.r);
	assert_int_equal(commit_graph_options_load(&w, &x->f.h.r.t.repo, NULL),
			 0);
	w.changed_paths = 1;
	w.changed_paths_version = version;
	assert_int_equal(commit_graph_write(x->f.odb, &w, NULL), 1);
	assert_int_equal(commit_graph_open_dir(&x->graph, x->f.odb, 0, NULL),
			 1);
}

static void release(struct fixture *x)
{
	commit_graph_close(x->graph);
	walkrepo_release(&x->f);
}

static bool has_changed(struct fixture *x, struct path_changes *p, uint32_t nr)
{
	struct randrepo *r = &x->f.h.r;
	const struct randrepo_object *o = &r->objects[nr];
	uint32_t parent = PATH_CHANGES_NO_TREE;

	if (o->ref_nr > 1)
		parent = walkrepo_pos(&x->f, r->objects[o->refs[1]].refs[0]);
	return path_changes_run(p, walkrepo_pos(&x->f, o->refs[0]), parent,
				pathspecs_stop, NULL, NULL);
}

static int note_path(void *ctx, const char *path, size_t len,
		     enum path_change change)
{
	struct buf *paths = ctx;

	return buf_printf(paths, "%s\n", path);
}

static enum path_filters_answer ask(struct fixture *x, struct path_filters *f,
				    uint32_t commit)
{
	uint32_t graph_pos;

	assert_true(commit_graph_find(
		x->graph, x->f.h.r.objects[commit].oid.bytes, &graph_pos));
	return f->graph ? path_filters_ask(f, graph_pos) : PATH_FILTERS_ABSENT;
}

static void check_paths(struct fixture *x, struct path_changes *p,
			const char *a, const char *b, uint64_t *no_nr)
{
	struct path_filters filters;
	struct pathspec ps;
	uint64_t false_nr = 0, nr = x->f.h.r.commit_nr;

	pathspecs_parse(&ps, a, b);
	path_changes_limit(p, &ps);
	assert_int_equal(path_filters_init(&filters, x->graph,
					   &x->f.h.r.t.repo.config, &ps, NULL),
			 0);
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t commit = x->f.h.r.commits[i];
		enum path_filters_answer answer = ask(x, &filters, commit);
		bool changed = has_changed(x, p, commit);

		if (answer == PATH_FILTERS_NO)
			assert_false(changed);
		false_nr += answer == PATH_FILTERS_MAYBE && !changed;
	}
	if (filters.graph)
		assert_int_equal(filters.absent_nr + filters.maybe_nr +
					 filters.no_nr,
				 nr);
	assert_true(false_nr <= filters.maybe_nr);
	*no_nr += filters.no_nr;
	path_filters_release(&filters);
	path_changes_limit(p, NULL);
	pathspec_release(&ps);
}

/*
 * Asks the Bloom filters about every path of the last commit, in several forms
 * of patterns. `version`: version of the filters' hash function.
 */
static void run_random(uint64_t *seed, int64_t version)
{
	struct buf paths = BUF_INIT, dir = BUF_INIT;
	struct path_changes *p;
	uint64_t no_nr = 0;
	struct fixture x;
	uint32_t last;
	char *at, *end;

	setup(&x, seed, version);
	p = path_changes_new(&x.f.w.space, 1 << 20);
	assert_non_null(p);
	last = x.f.h.r.commits[x.f.h.r.commit_nr - 1];
	path_changes_run(p, walkrepo_pos(&x.f, x.f.h.r.objects[last].refs[0]),
			 PATH_CHANGES_NO_TREE, note_path, &paths, NULL);
	for (at = paths.data; *at; at = end + 1) {
		end = strchr(at, '\n');
		*end = '\0';
		check_paths(&x, p, at, NULL, &no_nr);
		check_paths(&x, p, at, "nowhere/to/be/found", &no_nr);
		check_paths(&x, p, at, ":!elsewhere", &no_nr);
		buf_reset(&dir);
		buf_printf(&dir, "%s/*", at);
		*strrchr(dir.data, '/') = '\0';
		if (strchr(dir.data, '/'))
			strcpy(strrchr(dir.data, '/'), "/*");
		check_paths(&x, p, dir.data, NULL, &no_nr);
	}
	assert_true(no_nr > 0);
	path_changes_free(p);
	buf_release(&paths);
	buf_release(&dir);
	release(&x);
}

static void test_random(void **state)
{
	uint64_t seed = random_seed();

	run_random(&seed, 1);
	run_random(&seed, 2);
}

/* Bloom filters are not used if a pattern may match anywhere. */
static void test_unfit(void **state)
{
	static const char *const patterns[] = {"*.c", ".", ":(icase)a", ":!a",
					       ":(glob)**/x"};
	uint64_t seed = random_seed();
	struct fixture x;

	setup(&x, &seed, -1);
	for (size_t i = 0; i < ARRAY_NR(patterns); i++) {
		struct path_filters filters;
		struct pathspec ps;

		pathspecs_parse(&ps, patterns[i], "a");
		assert_int_equal(path_filters_init(&filters, x.graph,
						   &x.f.h.r.t.repo.config, &ps,
						   NULL),
				 0);
		/*
		 * Only the pattern ":!a", which excludes paths, allows the use
		 * of Bloom filters.
		 */
		assert_int_equal(filters.graph != NULL, i == 3);
		path_filters_release(&filters);
		pathspec_release(&ps);
	}
	release(&x);
}

static void check_config(struct fixture *x, const char *text, bool is_used)
{
	struct config config = CONFIG_INIT;
	struct path_filters filters;
	struct pathspec ps;

	assert_int_equal(config_parse(&config, text, strlen(text), CONFIG_LOCAL,
				      NULL, NULL, NULL),
			 0);
	pathspecs_parse(&ps, "a", NULL);
	assert_int_equal(
		path_filters_init(&filters, x->graph, &config, &ps, NULL), 0);
	assert_int_equal(filters.graph != NULL, is_used);
	path_filters_release(&filters);
	pathspec_release(&ps);
	config_release(&config);
}

static void test_config(void **state)
{
	uint64_t seed = random_seed();
	struct fixture x;

	setup(&x, &seed, 2);
	check_config(&x, "[commitGraph]\nchangedPathsVersion = -1", true);
	check_config(&x, "[commitGraph]\nchangedPathsVersion = 0", false);
	check_config(&x, "[commitGraph]\nchangedPathsVersion = 1", false);
	check_config(&x, "[commitGraph]\nchangedPathsVersion = 2", true);
	check_config(&x, "[commitGraph]\nreadChangedPaths = false", false);
	check_config(&x, "[commitGraph]\nreadChangedPaths = true", true);
	release(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_unfit),
		cmocka_unit_test(test_config),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
