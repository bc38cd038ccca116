/* SPDX-License-Identifier: MIT */
/*
 * Tests of graph-write/commit-graph-chain.c, which puts commit-graph files in
 * place. They prove which layers of a chain remain below a new layer, and which
 * files are removed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "graph-write/commit-graph-chain.h"
#include "sys/clock.h"
#include "sys/map.h"
#include "t/unit/graphchain.h"

#define LAYERS 4

/*
 * Returns how many layers of the chain remain below a new layer. `sizes`:
 * numbers of commits of the existing layers. The first `elsewhere` layers are
 * in another directory.
 */
static size_t kept(const uint32_t *sizes, size_t elsewhere, uint64_t new_nr,
		   const struct commit_graph_split_options *o)
{
	struct commit_graph_layer layers[LAYERS];
	size_t dir_nrs[LAYERS];
	const struct commit_graph graph = {
		.layers = layers,
		.dir_nrs = dir_nrs,
		.layer_nr = LAYERS,
		.is_chain = true,
	};

	memset(layers, 0, sizeof(layers));
	for (size_t i = 0; i < LAYERS; i++) {
		layers[i].nr = sizes[i];
		dir_nrs[i] = i < elsewhere;
	}
	return commit_graph_layers_kept(&graph, 0, new_nr, o);
}

static void test_kept(void **state)
{
	static const uint32_t sizes[LAYERS] = {1000, 100, 10, 5};
	struct commit_graph_split_options o = {
		.split = COMMIT_GRAPH_SPLIT_MERGE};

	assert_int_equal(kept(sizes, 0, 1, &o), 4);
	assert_int_equal(kept(sizes, 0, 2, &o), 4);
	/*
	 * A layer is merged if it has at most twice as many commits as the new
	 * layer together with the layers merged so far. Here, 5 <= 2 * 3, and
	 * 10 <= 2 * (3 + 5).
	 */
	assert_int_equal(kept(sizes, 0, 3, &o), 2);
	assert_int_equal(kept(sizes, 0, 35, &o), 1);
	assert_int_equal(kept(sizes, 0, 400, &o), 0);
	assert_int_equal(kept(sizes, 2, 400, &o), 2);
	o.size_multiple = 1;
	assert_int_equal(kept(sizes, 0, 4, &o), 4);
	assert_int_equal(kept(sizes, 0, 5, &o), 2);
	o.max_commits = 8;
	assert_int_equal(kept(sizes, 0, 4, &o), 4);
	/*
	 * The new layer of 5 commits is merged with the highest layer, which
	 * also has 5. The result has more than max_commits. So all layers of
	 * the chain are merged.
	 */
	assert_int_equal(kept(sizes, 0, 5, &o), 0);
	o.split = COMMIT_GRAPH_SPLIT_NO_MERGE;
	assert_int_equal(kept(sizes, 0, 4000, &o), 4);
	o.split = COMMIT_GRAPH_SPLIT_REPLACE;
	assert_int_equal(kept(sizes, 2, 1, &o), 0);
	assert_int_equal(commit_graph_layers_kept(NULL, 0, 1, &o), 0);
}

static bool is_there(const struct graphchain *f, const char *name)
{
	struct buf path = BUF_INIT;
	bool there;

	buf_printf(&path, "%s/objects/info/%s", f->t.dir, name);
	there = sys_exists(path.data);
	buf_release(&path);
	return there;
}

static const char layer_aa[] = "commit-graphs/graph-"
			       "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.graph";
static const char layer_bb[] = "commit-graphs/graph-"
			       "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb.graph";
static const char layer_cc[] = "commit-graphs/graph-"
			       "cccccccccccccccccccccccccccccccccccccccc.graph";

/* Installs a new layer of the chain on top of the lowest `kept_nr` layers. */
static int install(struct graphchain *f, size_t kept_nr, int64_t expiry)
{
	struct commit_graph_chain_lock lock = COMMIT_GRAPH_CHAIN_LOCK_INIT;
	struct commit_graph *graph;
	struct buf bytes = BUF_INIT;
	struct oid checksum;
	struct commit_graph_chain chain = {
		.odb = &f->odb,
		.kept = kept_nr,
		.bytes = &bytes,
		.checksum = &checksum,
		.expiry = expiry,
	};
	int ret;

	memset(&checksum, 0, sizeof(checksum));
	memset(checksum.bytes, 0xcc, 20);
	buf_append_str(&bytes, "a layer");
	assert_int_equal(commit_graph_open_dir(&graph, &f->odb, 0, NULL), 1);
	chain.graph = graph;
	assert_int_equal(commit_graph_chain_lock(&lock, &f->odb, 0, true, NULL),
			 0);
	assert_true(is_there(f, "commit-graphs/commit-graph-chain.lock"));
	ret = commit_graph_chain_install(&chain, &lock, NULL);
	assert_false(is_there(f, "commit-graphs/commit-graph-chain.lock"));
	commit_graph_close(graph);
	buf_release(&bytes);
	return ret;
}

static void assert_chain(const struct graphchain *f, const char *text)
{
	struct buf path = BUF_INIT, content = BUF_INIT;

	buf_printf(&path, "%s/objects/info/commit-graphs/commit-graph-chain",
		   f->t.dir);
	assert_int_equal(sys_read_file(&content, path.data, NULL), 0);
	assert_string_equal(content.data, text);
	buf_release(&path);
	buf_release(&content);
}

static void remove_chain(struct graphchain *f)
{
	struct commit_graph_chain_lock lock = COMMIT_GRAPH_CHAIN_LOCK_INIT;

	assert_int_equal(
		commit_graph_chain_lock(&lock, &f->odb, 0, false, NULL), 0);
	assert_int_equal(
		commit_graph_chain_remove(&lock, &f->odb, 0, INT64_MAX, NULL),
		0);
	commit_graph_chain_unlock(&lock);
}

static void test_install(void **state)
{
	struct graphchain f;

	graphchain_setup(&f);
	graphchain_write_chain(&f, &graphchain_top_file);
	assert_int_equal(install(&f, 1, 0), 0);
	assert_chain(&f, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"
			 "cccccccccccccccccccccccccccccccccccccccc\n");
	/*
	 * An unused layer of the chain remains until it is old enough to
	 * expire. Then it is removed.
	 */
	assert_true(is_there(&f, layer_bb));
	assert_int_equal(install(&f, 0, sys_clock_seconds() + 1), 0);
	assert_chain(&f, "cccccccccccccccccccccccccccccccccccccccc\n");
	assert_false(is_there(&f, layer_aa) || is_there(&f, layer_bb));
	assert_true(is_there(&f, layer_cc));
	remove_chain(&f);
	assert_false(is_there(&f, layer_cc));
	assert_false(is_there(&f, "commit-graphs/commit-graph-chain"));
	tmprepo_release(&f.t);
}

/*
 * A chain is only removed under its lock. Otherwise another process could just
 * be writing a chain, and would name layers that are gone.
 */
static void test_remove_unlocked(void **state)
{
	struct commit_graph_chain_lock lock = COMMIT_GRAPH_CHAIN_LOCK_INIT;
	struct graphchain f;

	graphchain_setup(&f);
	graphchain_write_chain(&f, &graphchain_top_file);
	assert_int_equal(
		commit_graph_chain_remove(&lock, &f.odb, 0, INT64_MAX, NULL),
		0);
	assert_true(is_there(&f, layer_aa) && is_there(&f, layer_bb));
	assert_true(is_there(&f, "commit-graphs/commit-graph-chain"));
	tmprepo_release(&f.t);
}

/*
 * A commit-graph in a single file becomes the lowest layer of a new chain. The
 * file is renamed, not written again.
 */
static void test_single(void **state)
{
	struct graphchain f;

	graphchain_setup(&f);
	graphchain_write_graph(&f, graphchain_single, &graphchain_base_file);
	assert_int_equal(install(&f, 1, 0), 0);
	assert_false(is_there(&f, "commit-graph"));
	assert_true(is_there(&f, layer_aa));
	assert_chain(&f, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"
			 "cccccccccccccccccccccccccccccccccccccccc\n");
	tmprepo_release(&f.t);
}

/*
 * Both a chain and a single file exist: the writer of the chain did not get the
 * lock to remove the single file. The next writer of a chain removes this file.
 */
static void test_shadowed(void **state)
{
	for (size_t kept_nr = 0; kept_nr < 2; kept_nr++) {
		struct graphchain f;

		graphchain_setup(&f);
		graphchain_write_chain(&f, &graphchain_top_file);
		graphchain_write_graph(&f, graphchain_single,
				       &graphchain_base_file);
		assert_int_equal(install(&f, kept_nr, 0), 0);
		assert_false(is_there(&f, "commit-graph"));
		assert_true(is_there(&f, layer_cc));
		tmprepo_release(&f.t);
	}
}

static void test_locked(void **state)
{
	struct commit_graph_chain_lock lock = COMMIT_GRAPH_CHAIN_LOCK_INIT;
	struct commit_graph_chain_lock other = COMMIT_GRAPH_CHAIN_LOCK_INIT;
	struct graphchain f;

	graphchain_setup(&f);
	assert_int_equal(commit_graph_chain_lock(&lock, &f.odb, 0, true, NULL),
			 0);
	assert_int_equal(
		commit_graph_chain_lock(&other, &f.odb, 0, false, NULL),
		ERR_DENIED);
	commit_graph_chain_unlock(&other);
	assert_true(is_there(&f, "commit-graphs/commit-graph-chain.lock"));
	commit_graph_chain_unlock(&lock);
	assert_false(is_there(&f, "commit-graphs/commit-graph-chain.lock"));
	tmprepo_release(&f.t);
}

static void assert_content(const struct tmprepo *t, const char *name,
			   const char *text)
{
	struct buf path = BUF_INIT, content = BUF_INIT;

	buf_printf(&path, "%s/%s", t->dir, name);
	assert_int_equal(sys_read_file(&content, path.data, NULL), 0);
	assert_string_equal(content.data, text);
	buf_release(&path);
	buf_release(&content);
}

static void install_single(const struct tmprepo *t, const char *text, int ret)
{
	struct buf bytes = BUF_INIT;

	buf_append_str(&bytes, text);
	assert_int_equal(
		commit_graph_install(&t->repo, t->objects, &bytes, NULL), ret);
	buf_release(&bytes);
}

static void test_install_single(void **state)
{
	static const char graph[] = "objects/info/commit-graph";
	static const char lock[] = "objects/info/commit-graph.lock";
	struct buf path = BUF_INIT;
	struct sys_stat st;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	install_single(&t, "one", 0);
	assert_content(&t, graph, "one");
	install_single(&t, "two", 0);
	assert_content(&t, graph, "two");
	buf_printf(&path, "%s/%s", t.dir, graph);
	assert_int_equal(sys_stat(&st, path.data, NULL), 0);
	assert_int_equal(st.mode & 0333, 0);
	tmprepo_write(&t, lock, "");
	install_single(&t, "three", ERR_DENIED);
	assert_content(&t, graph, "two");
	assert_content(&t, lock, "");
	tmprepo_remove(&t, lock);
	install_single(&t, "three", 0);
	assert_content(&t, graph, "three");
	buf_release(&path);
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_install),
		cmocka_unit_test(test_remove_unlocked),
		cmocka_unit_test(test_single),
		cmocka_unit_test(test_shadowed),
		cmocka_unit_test(test_locked),
		cmocka_unit_test(test_install_single),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
