/* SPDX-License-Identifier: MIT */
/*
 * Commit graphs: one file or a chain of layers, and what makes them unusable.
 *
 * Invariant: layers ascend, layers[i].below_nr is the number of commits in
 * layers [0, i). Parents of a commit lie in its own layer or below.
 */
#include <ctype.h>
#include <string.h>

#include "base/cursor.h"
#include "base/mem.h"
#include "repo/commit-graph-layer.h"
#include "repo/commit-graph.h"
#include "repo/refs.h"
#include "sys/io.h"

#define LAYER_MAX 256 /* base graphs are counted in one byte */

struct commit_graph {
	enum hash_algo algo;
	struct commit_graph_layer *layers; /* owned; lowest first */
	size_t layer_nr;
	uint32_t nr;
};

void commit_graph_close(struct commit_graph *graph)
{
	if (!graph)
		return;
	while (graph->layer_nr)
		commit_graph_layer_release(&graph->layers[--graph->layer_nr]);
	free(graph->layers);
	free(graph);
}

int commit_graph_verify(const struct commit_graph *graph, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; i < graph->layer_nr && !ret; i++)
		ret = commit_graph_layer_verify(&graph->layers[i], err);
	return ret;
}

static struct commit_graph *new_graph(enum hash_algo algo)
{
	struct commit_graph *graph = mem_calloc(1, sizeof(*graph));

	if (!graph)
		return NULL;
	graph->algo = algo;
	graph->layers = mem_calloc(LAYER_MAX, sizeof(*graph->layers));
	if (!graph->layers) {
		free(graph);
		return NULL;
	}
	return graph;
}

/* Put an opened layer on top; takes it over also on failure. */
static int push_layer(struct commit_graph *graph,
		      struct commit_graph_layer *layer, struct error *err)
{
	size_t id_len = hash_len(graph->algo);
	size_t i;
	int ret = 0;

	if (layer->base_nr != graph->layer_nr)
		ret = ERR_CORRUPT;
	for (i = 0; !ret && i < graph->layer_nr; i++)
		if (memcmp(layer->bases + i * id_len, graph->layers[i].checksum,
			   id_len))
			ret = ERR_CORRUPT;
	if (ret || layer->nr >= COMMIT_GRAPH_NO_PARENT - graph->nr) {
		error_set(err, ERR_CORRUPT,
			  "%s: commit-graph does not fit on its base",
			  layer->name);
		commit_graph_layer_release(layer);
		return ERR_CORRUPT;
	}
	layer->below_nr = graph->nr;
	graph->nr += layer->nr;
	graph->layers[graph->layer_nr++] = *layer;
	return 0;
}

/* Open the layer with this checksum from any of the object directories. */
static int open_layer(struct commit_graph *graph, const struct odb *odb,
		      const char *hex, struct error *err)
{
	struct commit_graph_layer layer;
	struct buf path = BUF_INIT;
	int ret = ERR_MISSING;
	size_t i;

	for (i = 0; ret == ERR_MISSING && i < odb->dir_nr; i++) {
		buf_reset(&path);
		if (buf_printf(&path, "%s/info/commit-graphs/graph-%s.graph",
			       odb->dirs[i], hex) < 0)
			ret = error_nomem(err);
		else
			ret = commit_graph_layer_open(&layer, path.data,
						      odb->algo, err);
	}
	buf_release(&path);
	return ret < 0 ? ret : push_layer(graph, &layer, err);
}

/* `text` is the content of a commit-graph-chain file: one id per line. */
static int open_chain(struct commit_graph *graph, const struct odb *odb,
		      const struct buf *text, struct error *err)
{
	struct cursor c = cursor_make(text->data, text->len);
	size_t hex_len = hash_hex_len(odb->algo);
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid oid;
	int ret = 0;

	while (!ret && cursor_left(&c)) {
		if (!oid_from_hex(&oid, (const char *)c.p, cursor_left(&c),
				  odb->algo) ||
		    graph->layer_nr == LAYER_MAX)
			return error_set(err, ERR_CORRUPT,
					 "malformed commit-graph-chain");
		cursor_skip(&c, hex_len);
		if (cursor_left(&c) && !isspace(*c.p++))
			return error_set(err, ERR_CORRUPT,
					 "malformed commit-graph-chain");
		ret = open_layer(graph, odb, oid_to_hex(hex, &oid, odb->algo),
				 err);
	}
	return ret;
}

/* 1, 0 when the directory has no graph, or negative. */
static int open_in_dir(struct commit_graph *graph, const struct odb *odb,
		       const char *dir, struct error *err)
{
	struct commit_graph_layer layer;
	struct buf path = BUF_INIT, text = BUF_INIT;
	int found = 1;
	int ret;

	if (buf_printf(&path, "%s/info/commit-graph", dir) < 0) {
		ret = error_nomem(err);
		goto out;
	}
	ret = commit_graph_layer_open(&layer, path.data, odb->algo, err);
	if (!ret)
		ret = push_layer(graph, &layer, err);
	if (ret != ERR_MISSING)
		goto out;
	if (buf_append_str(&path, "s/commit-graph-chain") < 0) {
		ret = error_nomem(err);
		goto out;
	}
	ret = sys_read_file(&text, path.data, err);
	if (ret == ERR_MISSING)
		found = 0;
	else if (!ret)
		ret = open_chain(graph, odb, &text, err);
out:
	buf_release(&path);
	buf_release(&text);
	return ret < 0 && found ? ret : found;
}

/* Whether a file of the repository says anything: a line but for comments. */
static bool has_lines(const struct repo *repo, const char *name)
{
	char *path = repo_common_path(repo, name);
	struct buf text = BUF_INIT;
	bool found = true;
	const char *p;

	/* When in doubt, the graph is not used. */
	if (!path)
		return true;
	if (sys_read_file(&text, path, NULL) == ERR_MISSING) {
		found = false;
	} else {
		for (p = text.data; *p == '#' || isspace((unsigned char)*p);)
			p += *p == '#' ? strcspn(p, "\n") : 1;
		found = *p != '\0';
	}
	free(path);
	buf_release(&text);
	return found;
}

static int stop_at_first(void *ctx, const struct ref *ref)
{
	return 1;
}

/* 1, 0 or negative. */
static int has_replace_refs(const struct repo *repo, struct error *err)
{
	bool use = true;
	struct refs *refs;
	int ret = config_bool(&repo->config, "core.usereplacerefs", &use, err);

	if (ret < 0 || !use)
		return ret < 0 ? ret : 0;
	ret = refs_open(&refs, repo, err);
	if (ret < 0)
		return ret;
	ret = refs_each(refs, "refs/replace/", stop_at_first, NULL, NULL, err);
	refs_close(refs);
	return ret;
}

int commit_graph_is_writable(const struct repo *repo, struct error *err)
{
	bool wanted = true;
	int ret = config_bool(&repo->config, "core.commitgraph", &wanted, err);

	if (ret < 0)
		return ret;
	return wanted && !has_lines(repo, "shallow") &&
	       !has_lines(repo, "info/grafts");
}

/* Whether the stored parents are those that history has here. 1, 0, < 0. */
static int is_usable(const struct repo *repo, struct error *err)
{
	int ret = commit_graph_is_writable(repo, err);

	if (ret <= 0)
		return ret;
	ret = has_replace_refs(repo, err);
	return ret < 0 ? ret : !ret;
}

int commit_graph_open(struct commit_graph **out, const struct odb *odb,
		      struct error *err)
{
	struct commit_graph *graph;
	int ret = is_usable(odb->repo, err);
	size_t i;

	*out = NULL;
	if (ret <= 0)
		return ret;
	graph = new_graph(odb->algo);
	if (!graph)
		return error_nomem(err);
	ret = 0;
	for (i = 0; !ret && i < odb->dir_nr; i++)
		ret = open_in_dir(graph, odb, odb->dirs[i], err);
	if (ret <= 0)
		commit_graph_close(graph);
	else
		*out = graph;
	return ret;
}

uint32_t commit_graph_nr(const struct commit_graph *graph)
{
	return graph->nr;
}

bool commit_graph_find(const struct commit_graph *graph, const uint8_t *raw,
		       uint32_t *graph_pos)
{
	size_t i;

	for (i = 0; i < graph->layer_nr; i++) {
		const struct commit_graph_layer *layer = &graph->layers[i];

		if (commit_graph_layer_find(layer, raw, graph_pos)) {
			*graph_pos += layer->below_nr;
			return true;
		}
	}
	return false;
}

/* The layer that holds a position, or NULL when none does. */
static const struct commit_graph_layer *find_layer(
	const struct commit_graph *graph, uint32_t graph_pos)
{
	size_t i = graph->layer_nr;

	if (graph_pos >= graph->nr)
		return NULL;
	while (graph->layers[--i].below_nr > graph_pos)
		;
	return &graph->layers[i];
}

static int bad_pos(uint32_t graph_pos, struct error *err)
{
	return error_set(err, ERR_CORRUPT, "commit-graph has no commit %u",
			 (unsigned)graph_pos);
}

int commit_graph_entry(struct commit_graph_entry *entry,
		       const struct commit_graph *graph, uint32_t graph_pos,
		       struct error *err)
{
	const struct commit_graph_layer *layer = find_layer(graph, graph_pos);
	size_t id_len = hash_len(graph->algo);
	uint32_t layer_pos;
	const uint8_t *data;

	if (!layer)
		return bad_pos(graph_pos, err);
	layer_pos = graph_pos - layer->below_nr;
	data = commit_graph_layer_data(layer, layer_pos);
	entry->oid = pack_ids_at(&layer->ids, layer_pos);
	entry->tree = data;
	data += id_len + 8;
	entry->level = load_be32(data) >> 2;
	entry->date = load_be64(data) & ((UINT64_C(1) << 34) - 1);
	return 0;
}

/* Parents being collected. */
struct parent_list {
	uint32_t *parents;
	size_t max;
	int nr;
};

static bool add_parent(struct parent_list *list,
		       const struct commit_graph_layer *layer, uint32_t parent)
{
	if (parent >= layer->below_nr + layer->nr)
		return false;
	if ((size_t)list->nr < list->max)
		list->parents[list->nr] = parent;
	list->nr++;
	return true;
}

/* Follow the extra edge list from index `edge`. */
static bool add_edges(struct parent_list *list,
		      const struct commit_graph_layer *layer, size_t edge)
{
	for (; edge < layer->edge_nr; edge++) {
		uint32_t parent = load_be32(layer->edges + 4 * edge);

		if (!add_parent(list, layer, parent & ~COMMIT_GRAPH_EDGE))
			return false;
		if (parent & COMMIT_GRAPH_EDGE)
			return true;
	}
	return false;
}

static bool collect(struct parent_list *list,
		    const struct commit_graph_layer *layer, const uint8_t *data)
{
	uint32_t first = load_be32(data);
	uint32_t second = load_be32(data + 4);

	if (first == COMMIT_GRAPH_NO_PARENT)
		return second == COMMIT_GRAPH_NO_PARENT;
	if (!add_parent(list, layer, first))
		return false;
	if (second == COMMIT_GRAPH_NO_PARENT)
		return true;
	if (second & COMMIT_GRAPH_EDGE)
		return add_edges(list, layer, second & ~COMMIT_GRAPH_EDGE);
	return add_parent(list, layer, second);
}

int commit_graph_parents(const struct commit_graph *graph, uint32_t graph_pos,
			 uint32_t *parents, size_t max, struct error *err)
{
	const struct commit_graph_layer *layer = find_layer(graph, graph_pos);
	struct parent_list list = {parents, max, 0};
	const uint8_t *data;

	if (!layer)
		return bad_pos(graph_pos, err);
	data = commit_graph_layer_data(layer, graph_pos - layer->below_nr);
	if (!collect(&list, layer, data + hash_len(graph->algo)))
		return error_set(err, ERR_CORRUPT,
				 "%s: bad parents of commit %u", layer->name,
				 (unsigned)graph_pos);
	return list.nr;
}
