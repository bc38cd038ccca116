/* SPDX-License-Identifier: MIT */
/* Compares a commit of a commit-graph with its object. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/mem.h"
#include "graph/commit-graph-parts.h"
#include "graph/commit-graph-verify.h"
#include "object/parse.h"

struct comparing {
	const struct commit_graph *graph;
	struct commit_graph_entry entry;
	const uint32_t *parents; /* graph_pos of each parent */
	uint32_t parent_nr;
	char hex[OID_MAX_HEX_LEN + 1]; /* id of the commit */
	struct buf *lines;
	int ret; /* 0 or ERR_NOMEM */
};

static void say(struct comparing *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void say(struct comparing *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (buf_vprintf(c->lines, fmt, ap) < 0 ||
	    buf_append_char(c->lines, '\0') < 0)
		c->ret = ERR_NOMEM;
	va_end(ap);
}

static void compare_tree(struct comparing *c, const struct commit_view *view)
{
	char ours[OID_MAX_HEX_LEN + 1], theirs[OID_MAX_HEX_LEN + 1];
	enum hash_algo algo = c->graph->algo;

	if (!memcmp(c->entry.tree, view->tree.bytes, hash_len(algo)))
		return;
	say(c, "root tree OID for commit %s in commit-graph is %s != %s",
	    c->hex, oid_raw_to_hex(ours, c->entry.tree, algo),
	    oid_to_hex(theirs, &view->tree, algo));
}

static void compare_parents(struct comparing *c, const struct commit_view *view)
{
	char ours[OID_MAX_HEX_LEN + 1], theirs[OID_MAX_HEX_LEN + 1];
	enum hash_algo algo = c->graph->algo;

	for (uint32_t i = 0; i < c->parent_nr; i++) {
		const uint8_t *parent;
		struct oid oid;

		if (i == view->parent_nr) {
			say(c,
			    "commit-graph parent list for commit %s is too "
			    "long",
			    c->hex);
			return;
		}
		commit_parent(&oid, view, i, algo);
		/*
		 * commit_graph_parents() has checked that the graph contains
		 * all parents.
		 */
		parent = commit_graph_oid_raw(c->graph, c->parents[i]);
		if (memcmp(parent, oid.bytes, hash_len(algo)) != 0)
			say(c, "commit-graph parent for %s is %s != %s", c->hex,
			    oid_raw_to_hex(ours, parent, algo),
			    oid_to_hex(theirs, &oid, algo));
	}
	if (c->parent_nr < view->parent_nr)
		say(c,
		    "commit-graph parent list for commit %s terminates early",
		    c->hex);
}

static void compare_generations(struct comparing *c)
{
	uint64_t corrected = 0;
	uint32_t generation = 0;

	for (uint32_t i = 0; i < c->parent_nr; i++) {
		struct commit_graph_entry parent;

		if (commit_graph_entry(&parent, c->graph, c->parents[i], NULL) <
		    0)
			return;
		if (parent.generation >= generation)
			generation = parent.generation + 1;
		if (parent.corrected >= corrected)
			corrected = parent.corrected + 1;
	}
	if (generation > COMMIT_GRAPH_GENERATION_MAX)
		generation = COMMIT_GRAPH_GENERATION_MAX;
	if (c->graph->has_dates && c->entry.corrected < corrected)
		say(c,
		    "commit-graph generation for commit %s is %" PRIu64
		    " < %" PRIu64,
		    c->hex, c->entry.corrected, corrected);
	/*
	 * Do not compare a generation number that is 0: the writer of the graph
	 * did not compute it.
	 */
	if (c->entry.generation && c->entry.generation < generation)
		say(c, "commit-graph generation for commit %s is %u < %u",
		    c->hex, (unsigned)c->entry.generation,
		    (unsigned)generation);
}

static void compare_date(struct comparing *c, const struct commit_view *view)
{
	if (c->entry.date != view->committer_date)
		say(c,
		    "commit date for commit %s in commit-graph is %" PRIu64
		    " != %" PRIu64,
		    c->hex, c->entry.date, view->committer_date);
}

static void compare_all(struct comparing *c, struct odb_reader *reader)
{
	struct odb_object obj = ODB_OBJECT_INIT;
	enum hash_algo algo = c->graph->algo;
	struct commit_view view;
	struct oid oid;
	int ret;

	oid_from_raw(&oid, c->entry.oid, algo);
	ret = odb_read(reader, &oid, &obj, NULL);
	if (ret == ERR_NOMEM) {
		c->ret = ret;
		return;
	}
	if (ret < 0 || obj.type != OBJ_COMMIT ||
	    commit_parse(&view, obj.data, obj.len, algo, NULL) < 0) {
		say(c,
		    "failed to parse commit %s from object database for "
		    "commit-graph",
		    c->hex);
	} else {
		compare_tree(c, &view);
		compare_parents(c, &view);
		compare_generations(c);
		compare_date(c, &view);
	}
	odb_object_release(reader, &obj);
}

/*
 * A commit with up to this number of parents needs no allocated array.
 */
#define PARENTS_MAX 16

int commit_graph_compare(struct buf *lines, const struct commit_graph *graph,
			 uint32_t graph_pos, struct odb_reader *reader)
{
	struct comparing c = {.graph = graph, .lines = lines};
	uint32_t few[PARENTS_MAX], *parents = few;
	int nr = commit_graph_parents(graph, graph_pos, few, PARENTS_MAX, NULL);

	oid_raw_to_hex(c.hex, commit_graph_oid_raw(graph, graph_pos),
		       graph->algo);
	if (nr > PARENTS_MAX) {
		parents = mem_alloc((size_t)nr, sizeof(*parents));
		if (!parents)
			return ERR_NOMEM;
		commit_graph_parents(graph, graph_pos, parents, (size_t)nr,
				     NULL);
	}
	c.parents = parents;
	c.parent_nr = nr < 0 ? 0 : (uint32_t)nr;
	if (nr < 0 || commit_graph_entry(&c.entry, graph, graph_pos, NULL) < 0)
		say(&c, "failed to parse commit %s from commit-graph", c.hex);
	else
		compare_all(&c, reader);
	if (parents != few)
		free(parents);
	return c.ret;
}
