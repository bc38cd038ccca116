/* SPDX-License-Identifier: MIT */
/*
 * Tests of graph-write/changed-paths.c, which computes changed-path Bloom
 * filters. They prove that a filter contains all changed paths, that existing
 * filters are reused, and that limits hold.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "graph-write/graph-content.h"
#include "graph-write/path-changes.h"
#include "t/unit/walkrepo.h"
#include "t/unit/writtengraph.h"

struct fixture {
	struct walkrepo f;
	struct graph_commits c;
	struct graph_records r;
	struct changed_paths paths;
};

static void setup(struct fixture *x, uint64_t *seed)
{
	struct commit_graph_generations generations = {0};

	memset(x, 0, sizeof(*x));
	walkrepo_init(&x->f, HASH_SHA1, seed, 40, 10);
	assert_int_equal(graph_commits_open(&x->c, x->f.odb, NULL, 0, NULL), 0);
	for (uint32_t i = 0; i < x->f.h.r.commit_nr; i++)
		graph_commits_add_raw(
			&x->c, x->f.h.r.objects[x->f.h.r.commits[i]].oid.bytes,
			NULL);
	assert_int_equal(graph_commits_reach(&x->c, NULL), 0);
	assert_int_equal(graph_commits_records(&x->r, &x->c, NULL), 0);
	generations.records = x->r.records;
	generations.nr = x->r.nr;
	generations.parents = x->r.parents;
	assert_int_equal(commit_graph_generations_compute(&generations, NULL),
			 0);
}

static void release(struct fixture *x)
{
	changed_paths_release(&x->paths);
	graph_records_release(&x->r);
	graph_commits_close(&x->c);
	walkrepo_release(&x->f);
}

struct expected {
	const struct commit_graph_filter *filter;
	struct bloom_settings settings;
	uint32_t nr;
};

/*
 * Checks that the Bloom filter contains the path and the directories above it.
 */
static int expect_path(void *ctx, const char *path, size_t len,
		       enum path_change change)
{
	struct expected *e = ctx;

	for (size_t i = 1; i <= len; i++) {
		struct bloom_key key;

		if (i < len && path[i] != '/')
			continue;
		key = bloom_key(path, i, e->settings.version);
		assert_true(bloom_filter_has(e->filter->bytes, e->filter->len,
					     &key, &e->settings));
	}
	e->nr++;
	return 0;
}

static void check_record(struct fixture *x, uint32_t i, uint32_t version)
{
	struct randrepo *r = &x->f.h.r;
	const struct randrepo_object *o =
		&r->objects[randrepo_find(r, &x->r.records[i].oid)];
	struct path_changes *p = path_changes_new(&x->f.w.space, 0);
	struct expected e = {&x->paths.filters[i], bloom_settings(version), 0};
	uint32_t parent = PATH_CHANGES_NO_TREE;

	assert_non_null(p);
	if (o->ref_nr > 1)
		parent = walkrepo_pos(&x->f, r->objects[o->refs[1]].refs[0]);
	assert_int_equal(path_changes_run(p, walkrepo_pos(&x->f, o->refs[0]),
					  parent, expect_path, &e, NULL),
			 0);
	assert_true(e.filter->len >= bloom_filter_len(e.nr, &e.settings));
	if (!e.nr) {
		assert_int_equal(e.filter->len, 1);
		assert_int_equal(e.filter->bytes[0], 0);
	}
	path_changes_free(p);
}

static void run_random(uint64_t *seed, unsigned threads, uint32_t version)
{
	const struct changed_paths_options o = {
		.settings = bloom_settings(version),
		.max_new = -1,
		.threads = threads,
	};
	struct fixture x;

	setup(&x, seed);
	assert_int_equal(changed_paths_compute(&x.paths, &x.c, &x.r, &o, NULL),
			 0);
	for (uint32_t i = 0; i < x.r.nr; i++)
		check_record(&x, i, version);
	release(&x);
}

static void test_random(void **state)
{
	uint64_t seed = random_seed();

	run_random(&seed, 1, 1);
	run_random(&seed, 2, 2);
}

static void test_limit(void **state)
{
	uint64_t seed = random_seed(), highest = 0;
	const struct changed_paths_options o = {
		.settings = bloom_settings(1),
		.max_new = 7,
		.threads = 2,
	};
	struct fixture x;
	uint32_t nr = 0;

	setup(&x, &seed);
	assert_int_equal(changed_paths_compute(&x.paths, &x.c, &x.r, &o, NULL),
			 0);
	for (uint32_t i = 0; i < x.r.nr; i++) {
		if (!x.paths.filters[i].len)
			continue;
		nr++;
		if (x.r.records[i].corrected > highest)
			highest = x.r.records[i].corrected;
	}
	assert_int_equal(nr, 7);
	for (uint32_t i = 0; i < x.r.nr; i++)
		if (x.r.records[i].corrected < highest)
			assert_true(x.paths.filters[i].len != 0);
	release(&x);
}

/*
 * An existing Bloom filter is reused only if it was made with the same
 * settings.
 */
static void test_reuse(void **state)
{
	struct changed_paths_options o = {
		.settings = bloom_settings(1),
		.max_new = 0,
		.threads = 1,
	};
	uint64_t seed = random_seed();
	struct commit_graph_options w;
	struct commit_graph *old;
	struct fixture x;

	setup(&x, &seed);
	randrepo_all_refs(&x.f.h.r);
	assert_int_equal(commit_graph_options_load(&w, &x.f.h.r.t.repo, NULL),
			 0);
	w.changed_paths = 1;
	assert_int_equal(commit_graph_write(x.f.odb, &w, NULL), 1);
	assert_int_equal(commit_graph_open_dir(&old, x.f.odb, 0, NULL), 1);
	o.old = old;
	assert_int_equal(changed_paths_compute(&x.paths, &x.c, &x.r, &o, NULL),
			 0);
	for (uint32_t i = 0; i < x.r.nr; i++)
		check_record(&x, i, 1);
	changed_paths_release(&x.paths);
	o.settings = bloom_settings(2);
	assert_int_equal(changed_paths_compute(&x.paths, &x.c, &x.r, &o, NULL),
			 0);
	for (uint32_t i = 0; i < x.r.nr; i++)
		assert_int_equal(x.paths.filters[i].len, 0);
	commit_graph_close(old);
	release(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_reuse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
