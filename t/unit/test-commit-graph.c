/* SPDX-License-Identifier: MIT */
/* repo/commit-graph.c: parents, chains, and when a graph is not used. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "repo/commit-graph-layer.h"
#include "repo/commit-graph.h"
#include "t/unit/graphfile.h"
#include "t/unit/tmprepo.h"

#define NONE COMMIT_GRAPH_NO_PARENT
#define EDGE COMMIT_GRAPH_EDGE

/* A root, two children, a merge, an octopus of three. */
static const struct graphfile_commit base_commits[] = {
	{0x10, 0x50, NONE, NONE, 1, 1000},
	{0x20, 0x51, 0, NONE, 2, 1001},
	{0x30, 0x52, 0, NONE, 2, UINT64_C(0x3ffffffff)},
	{0x40, 0x53, 1, 2, 3, 1003},
	{0x50, 0x54, 1, EDGE | 0, 3, 1004},
};

static const uint32_t base_edges[] = {2, EDGE | 0};

static const struct graphfile base_file = {.commits = base_commits,
					   .nr = 5,
					   .edges = base_edges,
					   .edge_nr = 2,
					   .bases = "",
					   .checksum = 0xaa};

/* On top of it, a child of 0x50, which has position 4. */
static const struct graphfile_commit top_commits[] = {
	{0x05, 0x60, 4, NONE, 4, 2000},
	{0x06, 0x61, 5, 0, 5, 2001},
};

static const struct graphfile top_file = {
	.commits = top_commits, .nr = 2, .bases = "\xaa", .checksum = 0xbb};

struct fixture {
	struct tmprepo t;
	struct odb odb;
	char *dirs[2];
};

static void setup(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	tmprepo_init(&f->t, HASH_SHA1);
	f->dirs[0] = f->t.objects;
	f->odb.repo = &f->t.repo;
	f->odb.algo = HASH_SHA1;
	f->odb.dirs = f->dirs;
	f->odb.dir_nr = 1;
}

static void write_graph(const struct fixture *f, const char *name,
			const struct graphfile *file)
{
	struct buf bytes = BUF_INIT;

	graphfile_append(&bytes, file);
	tmprepo_write_len(&f->t, name, bytes.data, bytes.len);
	buf_release(&bytes);
}

static const char single[] = "objects/info/commit-graph";

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
	struct fixture f;
	uint32_t one[2] = {77, 77};

	setup(&f);
	write_graph(&f, single, &base_file);
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
	assert_int_equal(entry.level, 2);
	assert_true(entry.date == UINT64_C(0x3ffffffff));
	assert_int_equal(commit_graph_entry(&entry, graph, 5, NULL),
			 ERR_CORRUPT);
	assert_int_equal(commit_graph_parents(graph, 5, one, 1, NULL),
			 ERR_CORRUPT);
	commit_graph_close(graph);
	tmprepo_release(&f.t);
}

static void write_chain(const struct fixture *f, const struct graphfile *top)
{
	static const char a[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
	static const char b[] = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
	struct buf name = BUF_INIT, chain = BUF_INIT;

	buf_printf(&name, "objects/info/commit-graphs/graph-%s.graph", a);
	write_graph(f, name.data, &base_file);
	buf_reset(&name);
	buf_printf(&name, "objects/info/commit-graphs/graph-%s.graph", b);
	write_graph(f, name.data, top);
	buf_printf(&chain, "%s\n%s\n", a, b);
	tmprepo_write(&f->t, "objects/info/commit-graphs/commit-graph-chain",
		      chain.data);
	buf_release(&name);
	buf_release(&chain);
}

static void test_chain(void **state)
{
	struct commit_graph_entry entry;
	struct commit_graph *graph;
	struct fixture f;
	uint8_t raw[20];
	uint32_t pos;

	setup(&f);
	write_chain(&f, &top_file);
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

static void test_bad_chain(void **state)
{
	struct graphfile other = top_file;
	struct commit_graph *graph;
	struct fixture f;

	setup(&f);
	other.bases = "\xab";
	write_chain(&f, &other);
	assert_int_equal(commit_graph_open(&graph, &f.odb, NULL), ERR_CORRUPT);
	assert_null(graph);
	tmprepo_write(&f.t, "objects/info/commit-graphs/commit-graph-chain",
		      "rubbish\n");
	assert_int_equal(commit_graph_open(&graph, &f.odb, NULL), ERR_CORRUPT);
	tmprepo_write(&f.t, "objects/info/commit-graphs/commit-graph-chain",
		      "cccccccccccccccccccccccccccccccccccccccc\n");
	assert_int_equal(commit_graph_open(&graph, &f.odb, NULL), ERR_MISSING);
	tmprepo_release(&f.t);
}

/* Each parent field that leads out of the file. */
static void test_bad_parents(void **state)
{
	static const uint32_t bad_edges[] = {0, 1};
	static const struct graphfile_commit commits[] = {
		{1, 1, 9, NONE, 1, 1},
		{2, 1, 0, 9, 1, 1},
		{3, 1, NONE, 0, 1, 1},
		{4, 1, 0, EDGE | 0, 1, 1}, /* without an end */
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
	struct fixture f;

	setup(&f);
	write_graph(&f, single, &file);
	assert_int_equal(commit_graph_open(&graph, &f.odb, NULL), 1);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(
			commit_graph_parents(graph, i, parents, 8, NULL),
			ERR_CORRUPT);
	commit_graph_close(graph);
	tmprepo_release(&f.t);
}

static int open_graph(const struct fixture *f)
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
	struct fixture f;

	setup(&f);
	assert_int_equal(open_graph(&f), 0);
	write_graph(&f, single, &base_file);
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
	struct fixture f;
	struct buf dir = BUF_INIT;

	setup(&f);
	buf_printf(&dir, "%s/other/objects", f.t.dir);
	f.dirs[1] = dir.data;
	f.odb.dir_nr = 2;
	write_graph(&f, "other/objects/info/commit-graph", &base_file);
	assert_int_equal(commit_graph_open(&graph, &f.odb, NULL), 1);
	assert_int_equal(commit_graph_nr(graph), 5);
	commit_graph_close(graph);
	buf_release(&dir);
	tmprepo_release(&f.t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_single),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_bad_chain),
		cmocka_unit_test(test_bad_parents),
		cmocka_unit_test(test_unusable),
		cmocka_unit_test(test_in_alternate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
