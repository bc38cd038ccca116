/* SPDX-License-Identifier: MIT */
/* Queries on commit-graphs: a single file or a chain of layers. */
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "graph/commit-graph-parts.h"

void commit_graph_close(struct commit_graph *graph)
{
	if (!graph)
		return;
	while (graph->layer_nr)
		commit_graph_layer_release(&graph->layers[--graph->layer_nr]);
	free(graph->layers);
	free(graph->dir_nrs);
	free(graph);
}

int commit_graph_verify(const struct commit_graph *graph, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; i < graph->layer_nr && !ret; i++)
		ret = commit_graph_layer_verify(&graph->layers[i], err);
	return ret;
}

uint32_t commit_graph_nr(const struct commit_graph *graph)
{
	return graph->nr;
}

bool commit_graph_has_generations(const struct commit_graph *graph)
{
	struct commit_graph_entry entry;

	return graph->nr && !commit_graph_entry(&entry, graph, 0, NULL) &&
	       entry.generation;
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

const struct commit_graph_layer *commit_graph_layer_of(
	const struct commit_graph *graph, uint32_t graph_pos)
{
	size_t i = graph->layer_nr;

	if (graph_pos >= graph->nr)
		return NULL;
	while (graph->layers[--i].below_nr > graph_pos)
		;
	return &graph->layers[i];
}

const uint8_t *commit_graph_oid_raw(const struct commit_graph *graph,
				    uint32_t graph_pos)
{
	const struct commit_graph_layer *layer = commit_graph_layer_of(
		graph, graph_pos);

	return layer ? pack_ids_at(&layer->ids, graph_pos - layer->below_nr)
		     : NULL;
}

static int bad_pos(uint32_t graph_pos, struct error *err)
{
	return error_set(err, ERR_CORRUPT, "invalid parent position %u",
			 (unsigned)graph_pos);
}

int commit_graph_entry(struct commit_graph_entry *entry,
		       const struct commit_graph *graph, uint32_t graph_pos,
		       struct error *err)
{
	const struct commit_graph_layer *layer = commit_graph_layer_of(
		graph, graph_pos);
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
	entry->generation = load_be32(data) >> 2;
	entry->date = load_be64(data) & ((UINT64_C(1) << 34) - 1);
	entry->corrected = 0;
	if (!graph->has_dates)
		return 0;
	return commit_graph_layer_corrected(layer, layer_pos, entry->date,
					    &entry->corrected, err);
}

/* An array that receives the parents of a commit, at most `max` of them. */
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

/*
 * Adds the parents that the chunk EDGE lists for a commit, from index `edge`
 * on. The entry of the last parent has its top bit set. Returns false if the
 * list is malformed.
 */
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
	const struct commit_graph_layer *layer = commit_graph_layer_of(
		graph, graph_pos);
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

void commit_graph_filter(struct commit_graph_filter *filter,
			 const struct commit_graph *graph, uint32_t graph_pos,
			 const struct bloom_settings *settings)
{
	const struct commit_graph_layer *layer = commit_graph_layer_of(
		graph, graph_pos);
	size_t len = 0;

	filter->bytes = NULL;
	if (layer->filter_ends && bloom_settings_equal(&layer->bloom, settings))
		filter->bytes = commit_graph_layer_filter(
			layer, graph_pos - layer->below_nr, &len);
	filter->len = (uint32_t)len;
}

bool commit_graph_filter_settings(struct bloom_settings *settings,
				  const struct commit_graph *graph)
{
	for (size_t i = graph->layer_nr; i-- > 0;)
		if (graph->layers[i].filter_ends) {
			*settings = graph->layers[i].bloom;
			return true;
		}
	return false;
}

int commit_graph_filter_version(int64_t *version, const struct config *config,
				struct error *err)
{
	bool read = true;
	int ret;

	*version = -1;
	ret = config_i64(config, "commitgraph.changedpathsversion", version,
			 err);
	if (!ret) {
		ret = config_bool(config, "commitgraph.readchangedpaths", &read,
				  err);
		if (ret > 0)
			*version = read ? -1 : 0;
	}
	return ret < 0 ? ret : 0;
}
