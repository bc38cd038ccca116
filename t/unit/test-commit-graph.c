/* SPDX-License-Identifier: MIT */
/*
 * Tests of graph/commit-graph.c, which reads commits from commit-graphs. They
 * prove that commits and parents are read from all layers of a chain, and that
 * invalid positions of parents are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/graphchain.h"

#define NONE COMMIT_GRAPH_NO_PARENT
#define EDGE COMMIT_GRAPH_EDGE

static void assert_parents(const struct commit_graph *graph, uint32_t graph_pos,
			   int nr, uint32_t a, uint32_t b, uint32_t c)
{
	const uint32_t expected[] = {a, b, c};
	uint32_t parents[3] = {77, 77, 77};

	assert_int_equal(
		commit_graph_parents(graph, graph_pos, parents, 3, NULL), nr);
	assert_memory_equal(parents, expected, (size_t)nr * 4);
}

static void test_single(void **state)
{
	struct commit_graph_entry entry;
	struct commit_graph *graph;
	struct graphchain f;
	uint32_t one[2] = {77, 77};

	graphchain_setup(&f);
	graphchain_write_graph(&f, graphchain_single, &graphchain_base_file);
	assert_int_equal(commit_graph_open(&graph, &f.odb, NULL), 1);
	assert_int_equal(commit_graph_nr(graph), 5);
	assert_parents(graph, 0, 0, 0, 0, 0);
	assert_parents(graph, 1, 1, 0, 0, 0);
	assert_parents(graph, 3, 2, 1, 2, 0);
	assert_parents(graph, 4, 3, 1, 2, 0);
	assert_int_equal(commit_graph_parents(graph, 4, one, 1, NULL), 3);
	assert_int_equal(one[0], 1);
	assert_int_equal(one[1], 77);
	assert_int_equal(commit_graph_entry(&entry, graph, 2, NULL), 0);
	assert_int_equal(entry.oid[0], 0x30);
	assert_int_equal(entry.tree[19], 0x52);
	assert_int_equal(entry.generation, 2);
	assert_true(entry.date == UINT64_C(0x3ffffffff));
	assert_int_equal(commit_graph_entry(&entry, graph, 5, NULL),
			 ERR_CORRUPT);
	assert_int_equal(commit_graph_parents(graph, 5, one, 1, NULL),
			 ERR_CORRUPT);
	commit_graph_close(graph);
	tmprepo_release(&f.t);
}

static void test_chain(void **state)
{
	struct commit_graph_entry entry;
	struct commit_graph *graph;
	struct graphchain f;
	uint8_t raw[20];
	uint32_t pos;

	graphchain_setup(&f);
	graphchain_write_chain(&f, &graphchain_top_file);
	assert_int_equal(commit_graph_open(&graph, &f.odb, NULL), 1);
	assert_int_equal(commit_graph_nr(graph), 7);
	assert_parents(graph, 5, 1, 4, 0, 0);
	assert_parents(graph, 6, 2, 5, 0, 0);
	assert_parents(graph, 4, 3, 1, 2, 0);
	memset(raw, 0x06, sizeof(raw));
	assert_true(commit_graph_find(graph, raw, &pos));
	assert_int_equal(pos, 6);
	memset(raw, 0x40, sizeof(raw));
	assert_true(commit_graph_find(graph, raw, &pos));
	assert_int_equal(pos, 3);
	raw[0] = 0x41;
	assert_false(commit_graph_find(graph, raw, &pos));
	assert_int_equal(commit_graph_entry(&entry, graph, 6, NULL), 0);
	assert_int_equal(entry.oid[0], 0x06);
	assert_int_equal(entry.tree[0], 0x61);
	commit_graph_close(graph);
	tmprepo_release(&f.t);
}

/*
 * Sets each field that names a parent, one at a time, to a position that no
 * layer has. Reading the parents must then fail.
 */
static void test_bad_parents(void **state)
{
	static const uint32_t bad_edges[] = {0, 1};
	static const struct graphfile_commit commits[] = {
		{1, 1, 9, NONE, 1, 1},
		{2, 1, 0, 9, 1, 1},
		{3, 1, NONE, 0, 1, 1},
		{4, 1, 0, EDGE | 0, 1, 1}, /* without an end marker */
		{5, 1, 0, EDGE | 2, 1, 1},
		{6, 1, EDGE | 0, NONE, 1, 1},
	};
	const struct graphfile file = {.commits = commits,
				       .nr = 6,
				       .edges = bad_edges,
				       .edge_nr = 2,
				       .bases = "",
				       .checksum = 1};
	struct commit_graph *graph;
	uint32_t parents[8];
	struct graphchain f;

	graphchain_setup(&f);
	graphchain_write_graph(&f, graphchain_single, &file);
	assert_int_equal(commit_graph_open(&graph, &f.odb, NULL), 1);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(
			commit_graph_parents(graph, i, parents, 8, NULL),
			ERR_CORRUPT);
	commit_graph_close(graph);
	tmprepo_release(&f.t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_single),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_bad_parents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
