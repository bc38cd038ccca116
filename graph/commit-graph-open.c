/* SPDX-License-Identifier: MIT */
/* Finds and opens commit-graphs, and decides whether they are usable. */
#include <ctype.h>
#include <string.h>

#include "base/cursor.h"
#include "base/mem.h"
#include "graph/commit-graph-parts.h"
#include "object/oid.h"
#include "refs/refs.h"
#include "sys/io.h"
#include "sys/map.h"

static struct commit_graph *new_graph(enum hash_algo algo)
{
	struct commit_graph *graph = mem_calloc(1, sizeof(*graph));

	if (!graph)
		return NULL;
	graph->algo = algo;
	return graph;
}

/*
 * Adds an opened layer as the topmost one. Takes ownership of the layer, even
 * if an error is returned.
 */
static int push_layer(struct commit_graph *graph,
		      struct commit_graph_layer *layer, size_t dir_nr,
		      struct error *err)
{
	size_t id_len = hash_len(graph->algo);
	size_t i;
	int ret = 0;

	if (layer->base_nr != graph->layer_nr ||
	    (layer->base_nr && !layer->bases))
		ret = ERR_CORRUPT;
	for (i = 0; !ret && i < graph->layer_nr; i++)
		if (memcmp(layer->bases + i * id_len, graph->layers[i].checksum,
			   id_len))
			ret = ERR_CORRUPT;
	if (ret || layer->nr >= COMMIT_GRAPH_NO_PARENT - graph->nr) {
		commit_graph_layer_release(layer);
		return error_set(err, ERR_CORRUPT,
				 "commit-graph chain does not match");
	}
	if (mem_grow(&graph->layers, &graph->layer_alloc, graph->layer_nr + 1,
		     sizeof(*graph->layers)) < 0 ||
	    mem_grow(&graph->dir_nrs, &graph->dir_alloc, graph->layer_nr + 1,
		     sizeof(*graph->dir_nrs)) < 0) {
		commit_graph_layer_release(layer);
		return error_nomem(err);
	}
	layer->below_nr = graph->nr;
	graph->nr += layer->nr;
	graph->dir_nrs[graph->layer_nr] = dir_nr;
	graph->layers[graph->layer_nr++] = *layer;
	return 0;
}

/*
 * Opens the layer whose file name has the checksum `hex`, from any of the
 * object directories.
 */
static int open_layer(struct commit_graph *graph, const struct odb *odb,
		      const char *hex, struct error *err)
{
	struct commit_graph_layer layer;
	struct buf path = BUF_INIT;
	int ret = ERR_MISSING;
	size_t dir_nr = 0;

	for (size_t i = 0; ret == ERR_MISSING && i < odb->dir_nr; i++) {
		dir_nr = i;
		buf_reset(&path);
		if (buf_printf(&path, "%s/info/commit-graphs/graph-%s.graph",
			       odb->dirs[i], hex) < 0)
			ret = error_nomem(err);
		else
			ret = commit_graph_layer_open(&layer, path.data,
						      odb->algo, err);
	}
	buf_release(&path);
	return ret < 0 ? ret : push_layer(graph, &layer, dir_nr, err);
}

/*
 * Opens the layers that `text`, the content of a commit-graph-chain file,
 * lists.
 */
static int open_chain(struct commit_graph *graph, const struct odb *odb,
		      const struct buf *text, struct error *err)
{
	struct cursor c = cursor_make(text->data, text->len);
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid oid;

	for (;;) {
		int ret = oid_lines_next(&oid, &c, odb->algo,
					 "commit-graph chain", err);

		if (ret <= 0)
			return ret;
		if (graph->layer_nr == COMMIT_GRAPH_LAYERS_MAX)
			return error_set(err, ERR_CORRUPT,
					 "too many commit-graph files");
		ret = open_layer(graph, odb, oid_to_hex(hex, &oid, odb->algo),
				 err);
		if (ret < 0)
			return ret;
	}
}

/*
 * Opens the layers of a chain. If a layer is missing or broken, opens only the
 * layers below it.
 */
static int take_chain(struct commit_graph *graph, const struct odb *odb,
		      const char *path, struct error *why)
{
	struct buf text = BUF_INIT;
	int ret = sys_read_file(&text, path, why);

	if (ret == ERR_MISSING)
		return 0;
	graph->is_chain = true;
	if (!ret)
		ret = open_chain(graph, odb, &text, why);
	buf_release(&text);
	if (ret == ERR_NOMEM || (ret < 0 && !graph->layer_nr))
		return ret;
	graph->incomplete = ret < 0;
	return graph->layer_nr != 0;
}

static int take_files(struct commit_graph *graph, const struct odb *odb,
		      size_t dir_nr, struct error *why)
{
	struct commit_graph_layer layer;
	struct buf path = BUF_INIT;
	int ret;

	if (buf_printf(&path, "%s/info/commit-graph", odb->dirs[dir_nr]) < 0) {
		ret = error_nomem(why);
		goto out;
	}
	ret = commit_graph_layer_open(&layer, path.data, odb->algo, why);
	/*
	 * A single commit-graph file has no lower layers, whatever the header
	 * of the file says.
	 */
	if (!ret && !layer.bases)
		layer.base_nr = 0;
	if (!ret)
		ret = push_layer(graph, &layer, dir_nr, why);
	if (ret != ERR_MISSING) {
		ret = ret < 0 ? ret : 1;
		goto out;
	}
	ret = buf_append_str(&path, "s/commit-graph-chain") < 0
		      ? error_nomem(why)
		      : take_chain(graph, odb, path.data, why);
out:
	buf_release(&path);
	return ret;
}

/*
 * Returns whether generation numbers v2 (corrected dates) may be used: all
 * layers must have them.
 */
static bool has_dates(const struct commit_graph *graph, const struct repo *repo)
{
	int64_t version = 2;
	bool found = true;

	config_i64(&repo->config, "commitgraph.generationversion", &version,
		   NULL);
	for (size_t i = 0; i < graph->layer_nr; i++)
		found &= graph->layers[i].date_offsets != NULL;
	return version == 2 && found;
}

int commit_graph_open_dir(struct commit_graph **out, const struct odb *odb,
			  size_t dir_nr, struct error *why)
{
	struct commit_graph *graph = new_graph(odb->algo);
	int ret;

	*out = NULL;
	if (!graph)
		return error_nomem(why);
	ret = take_files(graph, odb, dir_nr, why);
	if (ret <= 0) {
		commit_graph_close(graph);
		return ret;
	}
	graph->has_dates = has_dates(graph, odb->repo);
	*out = graph;
	return 1;
}

int commit_graph_open_first(struct commit_graph **out, const struct odb *odb,
			    size_t dir_nr, struct error *why)
{
	int ret = 0;

	*out = NULL;
	for (; dir_nr < odb->dir_nr; dir_nr++) {
		int here = commit_graph_open_dir(out, odb, dir_nr, why);

		if (here > 0 || here == ERR_NOMEM)
			return here;
		ret = ret ? ret : here;
	}
	return ret;
}

/* Returns whether a file of the repository has a line that is not a comment. */
static bool has_lines(const struct repo *repo, const char *name)
{
	char *path = repo_common_path(repo, name);
	struct buf text = BUF_INIT;
	bool found = true;
	const char *p;

	/*
	 * If memory runs out, the file is not read. Return true, as for a file
	 * with lines. The graph is then not used, which is always safe.
	 */
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

/* Returns 1 if there are replace refs, 0 if not, or a negative error code. */
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

/*
 * Looks for a commit-graph first. Only if there is one, looks for replace refs,
 * because this takes longer.
 */
int commit_graph_open(struct commit_graph **out, const struct odb *odb,
		      struct error *err)
{
	int ret = commit_graph_is_writable(odb->repo, err);

	*out = NULL;
	if (ret > 0)
		ret = commit_graph_open_first(out, odb, 0, err);
	if (ret <= 0)
		return ret;
	/*
	 * With replace refs, commits may have other parents than the
	 * commit-graph says.
	 */
	ret = has_replace_refs(odb->repo, err);
	if (!ret)
		return 1;
	commit_graph_close(*out);
	*out = NULL;
	return ret < 0 ? ret : 0;
}
