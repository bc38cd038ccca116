/* SPDX-License-Identifier: MIT */
/*
 * The bytes of two commit-graph layers: a lower layer of five commits, and an
 * upper layer of two commits. Tests put the layers into a repository as one
 * file or as a chain. Include this header after cmocka.h.
 */
#ifndef T_UNIT_GRAPHCHAIN_H
#define T_UNIT_GRAPHCHAIN_H

#include "graph/commit-graph-parts.h"
#include "t/unit/graphfile.h"
#include "t/unit/tmprepo.h"

/*
 * The lower layer: a root, two children, a merge, and an octopus merge of three
 * parents.
 */
static const struct graphfile_commit graphchain_base_commits[] = {
	{0x10, 0x50, COMMIT_GRAPH_NO_PARENT, COMMIT_GRAPH_NO_PARENT, 1, 1000},
	{0x20, 0x51, 0, COMMIT_GRAPH_NO_PARENT, 2, 1001},
	{0x30, 0x52, 0, COMMIT_GRAPH_NO_PARENT, 2, UINT64_C(0x3ffffffff)},
	{0x40, 0x53, 1, 2, 3, 1003},
	{0x50, 0x54, 1, COMMIT_GRAPH_EDGE | 0, 3, 1004},
};

static const uint32_t graphchain_base_edges[] = {2, COMMIT_GRAPH_EDGE | 0};

static const struct graphfile graphchain_base_file = {
	.commits = graphchain_base_commits,
	.nr = 5,
	.edges = graphchain_base_edges,
	.edge_nr = 2,
	.bases = "",
	.checksum = 0xaa};

/*
 * The upper layer. Commit 0x05 is a child of commit 0x50, which has position 4
 * in the lower layer.
 */
static const struct graphfile_commit graphchain_top_commits[] = {
	{0x05, 0x60, 4, COMMIT_GRAPH_NO_PARENT, 4, 2000},
	{0x06, 0x61, 5, 0, 5, 2001},
};

static const struct graphfile graphchain_top_file = {
	.commits = graphchain_top_commits,
	.nr = 2,
	.bases = "\xaa",
	.checksum = 0xbb};

struct graphchain {
	struct tmprepo t;
	struct odb odb;
	char *dirs[2];
};

static inline void graphchain_setup(struct graphchain *f)
{
	memset(f, 0, sizeof(*f));
	tmprepo_init(&f->t, HASH_SHA1);
	f->dirs[0] = f->t.objects;
	f->odb.repo = &f->t.repo;
	f->odb.algo = HASH_SHA1;
	f->odb.dirs = f->dirs;
	f->odb.dir_nr = 1;
}

static inline void graphchain_write_graph(const struct graphchain *f,
					  const char *name,
					  const struct graphfile *file)
{
	struct buf bytes = BUF_INIT;

	graphfile_append(&bytes, file);
	tmprepo_write_len(&f->t, name, bytes.data, bytes.len);
	buf_release(&bytes);
}

static const char graphchain_single[] = "objects/info/commit-graph";

static inline void graphchain_write_chain(const struct graphchain *f,
					  const struct graphfile *top)
{
	static const char a[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
	static const char b[] = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
	struct buf name = BUF_INIT, chain = BUF_INIT;

	buf_printf(&name, "objects/info/commit-graphs/graph-%s.graph", a);
	graphchain_write_graph(f, name.data, &graphchain_base_file);
	buf_reset(&name);
	buf_printf(&name, "objects/info/commit-graphs/graph-%s.graph", b);
	graphchain_write_graph(f, name.data, top);
	buf_printf(&chain, "%s\n%s\n", a, b);
	tmprepo_write(&f->t, "objects/info/commit-graphs/commit-graph-chain",
		      chain.data);
	buf_release(&name);
	buf_release(&chain);
}

#endif
