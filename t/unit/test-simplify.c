/* SPDX-License-Identifier: MIT */
/*
 * Tests of simplify/simplify.c, which simplifies history for a path. Random
 * histories of one file are compared with the rules of git-rev-list(1), applied
 * commit by commit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "simplify/simplify.h"
#include "t/unit/pathspecs.h"
#include "t/unit/walkrepo.h"
#include "t/unit/writtengraph.h"

#define COMMITS 80

/* A random history, and the object that each commit has at the path `path`. */
struct model {
	struct walkrepo f;
	const char *path;
	/*
	 * at[i]: the object at `path` in the commit r.objects[i]. The value is
	 * an index of r.objects[], too; 0: no such object.
	 */
	uint32_t *at;
};

/*
 * Returns the index in r->objects[] of the object at a path in a tree; 0: no
 * such object.
 */
static uint32_t look(struct randrepo *r, uint32_t tree, const char *path)
{
	struct cursor c = cursor_make(r->objects[tree].data.data,
				      r->objects[tree].data.len);
	size_t len = strcspn(path, "/");
	struct tree_entry e;

	while (tree_next(&e, &c, r->t.repo.algo) > 0) {
		struct oid oid;

		if (e.name_len != len || memcmp(e.name, path, len) != 0)
			continue;
		oid_from_raw(&oid, e.oid, r->t.repo.algo);
		if (!path[len])
			return randrepo_find(r, &oid) + 1;
		if (tree_entry_is_dir(&e))
			return look(r, randrepo_find(r, &oid), path + len + 1);
	}
	return 0;
}

static void model_look(struct model *m)
{
	struct randrepo *r = &m->f.h.r;

	m->at = calloc(r->nr, sizeof(*m->at));
	for (uint32_t i = 0; i < r->commit_nr; i++) {
		uint32_t c = r->commits[i];

		m->at[c] = look(r, r->objects[c].refs[0], m->path);
	}
}

static bool is_same(const struct model *m, uint32_t c, uint32_t parent)
{
	return m->at[c] == m->at[parent];
}

/*
 * Returns whether commit `c` is TREESAME to all its parents. A root commit is
 * compared with an empty tree.
 */
static bool is_treesame(const struct model *m, uint32_t c)
{
	const struct randrepo_object *o = &m->f.h.r.objects[c];

	for (uint32_t i = 1; i < o->ref_nr; i++)
		if (!is_same(m, c, o->refs[i]))
			return false;
	return o->ref_nr > 1 || !m->at[c];
}

/*
 * Sets walked[] for the commits that a walk from `c` visits, and shown[] for
 * those that it shows. `full`: all parents are followed, as with
 * --full-history.
 */
static void mark(const struct model *m, uint32_t c, bool full, bool *walked,
		 bool *shown)
{
	const struct randrepo_object *o = &m->f.h.r.objects[c];

	if (walked[c])
		return;
	walked[c] = true;
	shown[c] = !is_treesame(m, c);
	for (uint32_t i = 1; i < o->ref_nr && !full; i++)
		if (is_same(m, c, o->refs[i])) {
			shown[c] = false;
			mark(m, o->refs[i], full, walked, shown);
			return;
		}
	for (uint32_t i = 1; i < o->ref_nr; i++)
		mark(m, o->refs[i], full, walked, shown);
}

/*
 * Runs a walk. Sets `out` to the returned commits in their order, and found[]
 * for each of them. Checks that no commit is returned twice. Returns the number
 * of commits.
 */
static size_t run(struct model *m, const struct revwalk_tips *tips,
		  const struct simplify_options *o, uint32_t *out, bool *found)
{
	struct error err = ERROR_INIT;
	struct simplify *s;
	uint32_t c;
	size_t nr = 0;
	int ret;

	if (simplify_new(&s, &m->f.w.history, tips, o, &err) < 0)
		fail_msg("%s", err.msg);
	while ((ret = simplify_next(s, &c, &err)) > 0) {
		uint32_t obj = walkrepo_commit_obj(&m->f, c);

		assert_false(found[obj]);
		found[obj] = true;
		out[nr++] = obj;
	}
	if (ret)
		fail_msg("%s", err.msg);
	simplify_free(s);
	return nr;
}

/* Checks that each of the `nr` commits in `out` comes before its parents. */
static void check_order(const struct model *m, const uint32_t *out, size_t nr)
{
	bool *done = calloc(m->f.h.r.nr, sizeof(*done));

	for (size_t i = 0; i < nr; i++) {
		const struct randrepo_object *o = &m->f.h.r.objects[out[i]];

		for (uint32_t k = 1; k < o->ref_nr; k++)
			assert_false(done[o->refs[k]]);
		done[out[i]] = true;
	}
	free(done);
}

static void check(struct model *m, uint32_t tip, bool full,
		  enum simplify_order order)
{
	uint32_t nr = m->f.h.r.nr;
	bool *walked = calloc(nr, 1), *shown = calloc(nr, 1);
	bool *found = calloc(nr, 1);
	uint32_t *out = calloc(nr, sizeof(*out));
	uint32_t want = walkrepo_commit(&m->f, tip);
	const struct revwalk_tips tips = {&want, 1, NULL, 0};
	struct simplify_options o = {
		.full_history = full,
		.order = order,
		.max = UINT64_MAX,
		.max_parents = UINT32_MAX,
	};
	struct pathspec ps;
	size_t found_nr;

	pathspecs_parse(&ps, m->path, NULL);
	o.paths = &ps;
	mark(m, tip, full, walked, shown);
	found_nr = run(m, &tips, &o, out, found);
	assert_memory_equal(found, shown, nr);
	if (order != SIMPLIFY_ORDER_WALK)
		check_order(m, out, found_nr);
	memset(found, 0, nr);
	o.sparse = true;
	run(m, &tips, &o, out, found);
	assert_memory_equal(found, walked, nr);
	pathspec_release(&ps);
	free(walked);
	free(shown);
	free(found);
	free(out);
}

static void check_repo(struct model *m)
{
	static const char *const paths[] = {"a", "lib", "lib/a", "z", "ab/a.c"};

	for (size_t i = 0; i < ARRAY_NR(paths); i++) {
		m->path = paths[i];
		model_look(m);
		for (int k = 0; k < 6; k++)
			check(m, walkrepo_some_commit(&m->f), k & 1,
			      (enum simplify_order)(k % 3));
		free(m->at);
	}
}

static void test_rules(void **state)
{
	uint64_t seed = random_seed();

	for (int i = 0; i < 4; i++) {
		struct model m;

		walkrepo_init(&m.f, i & 1 ? HASH_SHA256 : HASH_SHA1, &seed,
			      COMMITS, 10);
		check_repo(&m);
		walkrepo_release(&m.f);
	}
}

/* Bloom filters in the commit-graph must not change the result of a walk. */
static void test_filters(void **state)
{
	uint64_t seed = random_seed();
	struct commit_graph_options w;
	struct model m;

	for (int version = 1; version <= 2; version++) {
		walkrepo_init(&m.f, HASH_SHA1, &seed, COMMITS, 10);
		randrepo_all_refs(&m.f.h.r);
		assert_int_equal(
			commit_graph_options_load(&w, &m.f.h.r.t.repo, NULL),
			0);
		w.changed_paths = 1;
		w.changed_paths_version = version;
		assert_int_equal(commit_graph_write(m.f.odb, &w, NULL), 1);
		walkrepo_reopen(&m.f);
		check_repo(&m);
		walkrepo_release(&m.f);
	}
}

/* ---- tests without paths: limits and boundaries */

static void reach(const struct model *m, uint32_t c, bool *seen)
{
	const struct randrepo_object *o = &m->f.h.r.objects[c];

	if (seen[c])
		return;
	seen[c] = true;
	for (uint32_t i = 1; i < o->ref_nr; i++)
		reach(m, o->refs[i], seen);
}

static void check_request(struct model *m, uint32_t a, uint32_t b)
{
	uint32_t nr = m->f.h.r.nr, wants[1], haves[1];
	bool *want = calloc(nr, 1), *have = calloc(nr, 1);
	bool *found = calloc(nr, 1);
	uint32_t *all = calloc(nr, sizeof(*all)),
		 *some = calloc(nr, sizeof(*some));
	const struct revwalk_tips tips = {wants, 1, haves, 1};
	struct simplify_options o = {
		.order = SIMPLIFY_ORDER_TOPO,
		.max = UINT64_MAX,
		.max_parents = UINT32_MAX,
	};
	size_t all_nr, some_nr;

	wants[0] = walkrepo_commit(&m->f, a);
	haves[0] = walkrepo_commit(&m->f, b);
	reach(m, a, want);
	reach(m, b, have);
	all_nr = run(m, &tips, &o, all, found);
	for (uint32_t i = 0; i < nr; i++)
		assert_int_equal(found[i], want[i] && !have[i]);
	check_order(m, all, all_nr);
	memset(found, 0, nr);
	o.skip = 2;
	o.max = 3;
	o.reverse = true;
	some_nr = run(m, &tips, &o, some, found);
	for (size_t i = 0; i < some_nr; i++)
		assert_int_equal(some[i], all[2 + some_nr - 1 - i]);
	assert_int_equal(some_nr, all_nr < 2 ? 0 : all_nr < 5 ? all_nr - 2 : 3);
	/*
	 * The boundary consists of the uninteresting parents of the returned
	 * commits.
	 */
	memset(found, 0, nr);
	o = (struct simplify_options){
		.boundary = true,
		.max = UINT64_MAX,
		.max_parents = UINT32_MAX,
	};
	run(m, &tips, &o, some, found);
	for (size_t i = 0; i < all_nr; i++) {
		const struct randrepo_object *r = &m->f.h.r.objects[all[i]];

		for (uint32_t k = 1; k < r->ref_nr; k++)
			assert_true(found[r->refs[k]]);
	}
	free(want);
	free(have);
	free(found);
	free(all);
	free(some);
}

static void test_requests(void **state)
{
	uint64_t seed = random_seed();
	struct model m;

	walkrepo_init(&m.f, HASH_SHA1, &seed, COMMITS, 10);
	for (int i = 0; i < 60; i++)
		check_request(&m, walkrepo_some_commit(&m.f),
			      walkrepo_some_commit(&m.f));
	walkrepo_release(&m.f);
}

static void test_no_bottom(void **state)
{
	const struct simplify_options o = {
		.full_history = true,
		.ancestry_path = true,
		.through_haves = true,
		.max = UINT64_MAX,
		.max_parents = UINT32_MAX,
	};
	uint64_t seed = random_seed();
	struct error err = ERROR_INIT;
	struct simplify *s;
	struct model m;
	uint32_t want;

	walkrepo_init(&m.f, HASH_SHA1, &seed, 10, 0);
	want = walkrepo_commit(&m.f, walkrepo_some_commit(&m.f));
	assert_int_equal(simplify_new(&s, &m.f.w.history,
				      &(struct revwalk_tips){&want, 1, NULL, 0},
				      &o, &err),
			 ERR_INVALID);
	assert_null(s);
	assert_string_equal(err.msg, "--ancestry-path given but there are no "
				     "bottom commits");
	walkrepo_release(&m.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_no_bottom),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
