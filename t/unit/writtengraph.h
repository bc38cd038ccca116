/* SPDX-License-Identifier: MIT */
/*
 * A random repository with a commit-graph of all its commits, for tests that
 * damage the file: they change `bytes`, open the graph, and restore the bytes.
 * Include this header after cmocka.h.
 */
#ifndef T_UNIT_WRITTENGRAPH_H
#define T_UNIT_WRITTENGRAPH_H

#include "base/bytes.h"
#include "graph-write/commit-graph-write.h"
#include "graph/commit-graph-parts.h"
#include "object/hash.h"
#include "sys/map.h"
#include "t/unit/walkrepo.h"

struct writtengraph {
	struct walkrepo f;
	uint64_t seed;
	/*
	 * `bytes`: bytes that writtengraph_store() writes, which a test may
	 * damage. `good`: the undamaged bytes of the file.
	 */
	struct buf bytes, good;
	struct commit_graph *graph;
};

static inline void writtengraph_init(struct writtengraph *g,
				     enum hash_algo algo)
{
	struct commit_graph_options o;
	struct buf path = BUF_INIT;

	memset(g, 0, sizeof(*g));
	buf_init(&g->bytes);
	buf_init(&g->good);
	g->seed = random_seed();
	walkrepo_init(&g->f, algo, &g->seed, 40, 10);
	randrepo_all_refs(&g->f.h.r);
	assert_int_equal(commit_graph_options_load(&o, &g->f.h.r.t.repo, NULL),
			 0);
	assert_int_equal(commit_graph_write(g->f.odb, &o, NULL), 1);
	buf_printf(&path, "%s/info/commit-graph", g->f.h.r.t.objects);
	assert_int_equal(sys_read_file(&g->good, path.data, NULL), 0);
	buf_append(&g->bytes, g->good.data, g->good.len);
	buf_release(&path);
}

static inline void writtengraph_release(struct writtengraph *g)
{
	commit_graph_close(g->graph);
	buf_release(&g->bytes);
	buf_release(&g->good);
	walkrepo_release(&g->f);
}

/* Write g->bytes to the commit-graph file, with the checksum corrected. */
static inline void writtengraph_store(struct writtengraph *g)
{
	enum hash_algo algo = g->f.odb->algo;
	size_t len = g->bytes.len - hash_len(algo);
	struct hash_ctx hash;
	struct oid sum;

	assert_int_equal(hash_init(&hash, algo), 0);
	hash_update(&hash, g->bytes.data, len);
	hash_final(&hash, &sum);
	hash_release(&hash);
	memcpy(g->bytes.data + len, sum.bytes, hash_len(algo));
	tmprepo_write_len(&g->f.h.r.t, "objects/info/commit-graph",
			  g->bytes.data, g->bytes.len);
}

/* Write g->bytes to the file, and open the file as g->graph. */
static inline void writtengraph_open(struct writtengraph *g)
{
	writtengraph_store(g);
	commit_graph_close(g->graph);
	assert_int_equal(commit_graph_open_dir(&g->graph, g->f.odb, 0, NULL),
			 1);
}

/* Set g->bytes to the undamaged bytes. */
static inline void writtengraph_restore(struct writtengraph *g)
{
	buf_reset(&g->bytes);
	buf_append(&g->bytes, g->good.data, g->good.len);
	writtengraph_open(g);
}

/* Returns the start of the chunk with the id `id` in g->bytes. */
static inline char *writtengraph_chunk(struct writtengraph *g, const char *id)
{
	const char *row = g->bytes.data + 8;

	while (memcmp(row, id, 4) != 0) {
		assert_true(load_be32(row) != 0);
		row += 12;
	}
	return g->bytes.data + load_be64(row + 4);
}

/*
 * Returns the position in the commit-graph of the first commit that has `nr`
 * parents and a generation number above 2.
 */
static inline uint32_t writtengraph_with_parents(struct writtengraph *g, int nr)
{
	uint32_t parents[16];

	writtengraph_open(g);
	for (uint32_t i = 0; i < commit_graph_nr(g->graph); i++) {
		struct commit_graph_entry entry;

		assert_int_equal(commit_graph_entry(&entry, g->graph, i, NULL),
				 0);
		if (entry.generation > 2 &&
		    commit_graph_parents(g->graph, i, parents, 16, NULL) == nr)
			return i;
	}
	fail_msg("no commit with %d parents", nr);
	return 0;
}

#endif
