/* SPDX-License-Identifier: MIT */
/*
 * Tests of graph-write/commit-graph-write.c, which writes commit-graphs. They
 * prove that a written graph agrees with the commit objects.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "graph-write/commit-graph-write.h"
#include "graph/commit-graph.h"
#include "t/unit/walkrepo.h"

/* Returns the generation number of a commit, computed recursively. */
static uint32_t generation_of(const struct randrepo *r, uint32_t nr)
{
	const struct randrepo_object *o = &r->objects[nr];
	uint32_t level = 1;

	for (uint32_t i = 1; i < o->ref_nr; i++) {
		uint32_t parent = generation_of(r, o->refs[i]);

		if (parent >= level)
			level = parent + 1;
	}
	return level;
}

static void check_commit(const struct randrepo *r, struct commit_graph *graph,
			 uint32_t nr)
{
	const struct randrepo_object *o = &r->objects[nr];
	struct commit_graph_entry entry, parent;
	uint32_t graph_pos, parents[16];
	size_t id_len = hash_len(r->t.repo.algo);

	assert_true(commit_graph_find(graph, o->oid.bytes, &graph_pos));
	assert_int_equal(commit_graph_entry(&entry, graph, graph_pos, NULL), 0);
	assert_memory_equal(entry.tree, r->objects[o->refs[0]].oid.bytes,
			    id_len);
	assert_int_equal(
		commit_graph_parents(graph, graph_pos, parents, 16, NULL),
		o->ref_nr - 1);
	for (uint32_t i = 1; i < o->ref_nr; i++) {
		assert_int_equal(commit_graph_entry(&parent, graph,
						    parents[i - 1], NULL),
				 0);
		assert_memory_equal(parent.oid,
				    r->objects[o->refs[i]].oid.bytes, id_len);
		assert_true(parent.generation < entry.generation);
	}
	if (nr < 150)
		assert_int_equal(entry.generation, generation_of(r, nr));
}

static void run_random(enum hash_algo algo, uint64_t *seed)
{
	struct commit_graph_options o;
	struct commit_graph *graph;
	struct walkrepo f;

	walkrepo_init(&f, algo, seed, 40, 10);
	randrepo_all_refs(&f.h.r);
	assert_int_equal(commit_graph_options_load(&o, &f.h.r.t.repo, NULL), 0);
	assert_int_equal(commit_graph_write(f.odb, &o, NULL), 1);
	assert_int_equal(commit_graph_open(&graph, f.odb, NULL), 1);
	assert_int_equal(commit_graph_verify(graph, NULL), 0);
	assert_int_equal(commit_graph_nr(graph), f.h.r.commit_nr);
	for (uint32_t i = 0; i < f.h.r.commit_nr; i++)
		check_commit(&f.h.r, graph, f.h.r.commits[i]);
	commit_graph_close(graph);
	walkrepo_release(&f);
}

static void test_random(void **state)
{
	uint64_t seed = random_seed();

	run_random(HASH_SHA1, &seed);
	run_random(HASH_SHA256, &seed);
}

static void test_nothing(void **state)
{
	uint64_t seed = random_seed();
	struct commit_graph_options o;
	struct walkrepo f;

	walkrepo_init(&f, HASH_SHA1, &seed, 4, 0);
	assert_int_equal(commit_graph_options_load(&o, &f.h.r.t.repo, NULL), 0);
	assert_int_equal(commit_graph_write(f.odb, &o, NULL), 0);
	randrepo_all_refs(&f.h.r);
	tmprepo_write(&f.h.r.t, "shallow", "1234\n");
	assert_int_equal(commit_graph_write(f.odb, &o, NULL), 0);
	walkrepo_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
