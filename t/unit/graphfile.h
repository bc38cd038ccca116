/* SPDX-License-Identifier: MIT */
/* Commit-graph files made by hand, chunk by chunk, for unit tests. */
#ifndef T_UNIT_GRAPHFILE_H
#define T_UNIT_GRAPHFILE_H

#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"

/*
 * A commit of a commit-graph. Its id is the byte `id`, repeated 20 times. The
 * id of its tree is the byte `tree`, repeated 20 times. The parents are numbers
 * as in the chunk CDAT.
 */
struct graphfile_commit {
	uint8_t id, tree;
	uint32_t parent1, parent2;
	uint32_t level;
	uint64_t date;
};

struct graphfile {
	const struct graphfile_commit *commits; /* sorted by id */
	uint32_t nr;
	const uint32_t *edges;
	uint32_t edge_nr;
	/*
	 * One byte for each base layer. The byte, repeated 20 times, is the id
	 * of the layer.
	 */
	const char *bases;
	/* The checksum of the file is this byte, repeated 20 times. */
	uint8_t checksum;
};

static inline void graphfile_fill(struct buf *out, uint8_t byte)
{
	uint8_t bytes[20];

	memset(bytes, byte, sizeof(bytes));
	buf_append(out, bytes, sizeof(bytes));
}

static inline void graphfile_contents(struct buf *out,
				      const struct graphfile *g)
{
	size_t base_nr = strlen(g->bases);
	const struct {
		const char *id;
		uint64_t len;
	} chunks[] = {
		{"OIDF", 1024},         {"OIDL", g->nr * 20},
		{"CDAT", g->nr * 36},   {"EDGE", g->edge_nr * 4},
		{"BASE", base_nr * 20}, {"\0\0\0\0", 0},
	};
	uint64_t off = 8 + 6 * 12;

	buf_append(out, "CGPH\1\1\5", 7);
	buf_append_char(out, (char)base_nr);
	for (size_t i = 0; i < 6; i++) {
		buf_append(out, chunks[i].id, 4);
		buf_append_be64(out, off);
		off += chunks[i].len;
	}
}

static inline void graphfile_append(struct buf *out, const struct graphfile *g)
{
	graphfile_contents(out, g);
	for (unsigned byte = 0; byte < 256; byte++) {
		uint32_t upto = 0;

		while (upto < g->nr && g->commits[upto].id <= byte)
			upto++;
		buf_append_be32(out, upto);
	}
	for (uint32_t i = 0; i < g->nr; i++)
		graphfile_fill(out, g->commits[i].id);
	for (uint32_t i = 0; i < g->nr; i++) {
		const struct graphfile_commit *c = &g->commits[i];

		graphfile_fill(out, c->tree);
		buf_append_be32(out, c->parent1);
		buf_append_be32(out, c->parent2);
		buf_append_be64(out, (uint64_t)c->level << 34 | c->date);
	}
	for (uint32_t i = 0; i < g->edge_nr; i++)
		buf_append_be32(out, g->edges[i]);
	for (const char *b = g->bases; *b; b++)
		graphfile_fill(out, (uint8_t)*b);
	graphfile_fill(out, g->checksum);
}

#endif
