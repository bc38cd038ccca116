/* SPDX-License-Identifier: MIT */
/*
 * Tests of graph/commit-graph-open.c, which opens the commit-graph of a
 * repository or of its alternates. They prove that valid layers are opened, and
 * that unusable graphs are ignored or refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/graphchain.h"

static void test_bad_chain(void **state)
{
	struct graphfile other = graphchain_top_file;
	struct commit_graph *graph;
	struct graphchain f;

	graphchain_setup(&f);
	other.bases = "\xab";
	graphchain_write_chain(&f, &other);
	assert_int_equal(commit_graph_open(&graph, &f.odb, NULL), 1);
	assert_int_equal(commit_graph_nr(graph), 5);
	assert_true(graph->is_chain && graph->incomplete);
	commit_graph_close(graph);
	tmprepo_write(&f.t, "objects/info/commit-graphs/commit-graph-chain",
		      "rubbish\n");
	assert_int_equal(commit_graph_open(&graph, &f.odb, NULL), ERR_CORRUPT);
	tmprepo_write(&f.t, "objects/info/commit-graphs/commit-graph-chain",
		      "cccccccccccccccccccccccccccccccccccccccc\n");
	assert_int_equal(commit_graph_open(&graph, &f.odb, NULL), ERR_MISSING);
	tmprepo_release(&f.t);
}

static int open_graph(const struct graphchain *f)
{
	struct commit_graph *graph;
	int ret = commit_graph_open(&graph, &f->odb, NULL);

	assert_true((ret == 1) == (graph != NULL));
	commit_graph_close(graph);
	return ret;
}

static void test_unusable(void **state)
{
	char key[] = "core.commitgraph", value[] = "false";
	struct config_entry entry = {key, value, CONFIG_LOCAL};
	struct graphchain f;

	graphchain_setup(&f);
	assert_int_equal(open_graph(&f), 0);
	graphchain_write_graph(&f, graphchain_single, &graphchain_base_file);
	assert_int_equal(open_graph(&f), 1);
	tmprepo_write(&f.t, "info/grafts", "# nothing\n\n");
	assert_int_equal(open_graph(&f), 1);
	tmprepo_write(&f.t, "info/grafts", "# one\n1234\n");
	assert_int_equal(open_graph(&f), 0);
	tmprepo_remove(&f.t, "info/grafts");
	tmprepo_write(&f.t, "shallow", "1234\n");
	assert_int_equal(open_graph(&f), 0);
	tmprepo_write(&f.t, "shallow", "");
	assert_int_equal(open_graph(&f), 1);
	tmprepo_write(&f.t, "refs/replace/x",
		      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n");
	assert_int_equal(open_graph(&f), 0);
	tmprepo_remove(&f.t, "refs/replace/x");
	assert_int_equal(open_graph(&f), 1);
	f.t.repo.config.entries = &entry;
	f.t.repo.config.nr = 1;
	assert_int_equal(open_graph(&f), 0);
	tmprepo_release(&f.t);
}

static void test_in_alternate(void **state)
{
	struct commit_graph *graph;
	struct graphchain f;
	struct buf dir = BUF_INIT;

	graphchain_setup(&f);
	buf_printf(&dir, "%s/other/objects", f.t.dir);
	f.dirs[1] = dir.data;
	f.odb.dir_nr = 2;
	graphchain_write_graph(&f, "other/objects/info/commit-graph",
			       &graphchain_base_file);
	assert_int_equal(commit_graph_open(&graph, &f.odb, NULL), 1);
	assert_int_equal(commit_graph_nr(graph), 5);
	commit_graph_close(graph);
	buf_release(&dir);
	tmprepo_release(&f.t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_chain),
		cmocka_unit_test(test_unusable),
		cmocka_unit_test(test_in_alternate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
