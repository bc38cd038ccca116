/* SPDX-License-Identifier: MIT */
/* Writes a commit-graph file from refs, packs or ids. */
#include <string.h>

#include "base/mem.h"
#include "graph-write/commit-graph-chain.h"
#include "graph-write/commit-graph-write.h"
#include "graph-write/graph-content.h"
#include "graph/commit-graph-file.h"
#include "graph/commit-graph-parts.h"
#include "graph/commit-graph.h"
#include "refs/refs.h"

/* The state of writing a commit-graph. */
struct writing {
	const struct odb *odb;
	const struct commit_graph_options *o;
	/* the existing commit-graph; NULL: there is none */
	struct commit_graph *graph;
	/*
	 * number of layers of `graph` that the new chain keeps below the new
	 * layer
	 */
	size_t kept;
	/* lock of the chain; held while a chain is written or removed */
	struct commit_graph_chain_lock lock;
	struct graph_commits commits;
	struct graph_records records;
	struct changed_paths filters;
	struct bloom_settings bloom;
	struct error *err;
};

int commit_graph_options_load(struct commit_graph_options *o,
			      const struct repo *repo, struct error *err)
{
	const struct config *config = &repo->config;
	int64_t version = 2;
	bool changed_paths = false;
	int ret = config_i64(config, "commitgraph.generationversion", &version,
			     err);

	*o = (struct commit_graph_options){
		.source = COMMIT_GRAPH_FROM_REFS,
		.generation_version = version == 2 ? 2 : 1,
		.changed_paths_version = -1,
		.max_new_filters = -1,
		.expiry = INT64_MAX,
	};
	if (ret >= 0)
		ret = config_bool(config, "commitgraph.changedpaths",
				  &changed_paths, err);
	o->changed_paths = changed_paths ? 1 : -1;
	if (ret >= 0)
		ret = config_i64(config, "commitgraph.maxnewfilters",
				 &o->max_new_filters, err);
	if (ret >= 0)
		ret = commit_graph_filter_version(&o->changed_paths_version,
						  config, err);
	return ret < 0 ? ret : 0;
}

/* ---- tips */

static int add_ref(void *ctx, const struct ref *ref)
{
	struct writing *w = ctx;
	const struct oid *oid = ref->has_peeled && ref->is_tag ? &ref->peeled
							       : &ref->oid;
	struct error why = ERROR_INIT;
	int ret = graph_commits_add(&w->commits, oid,
				    GRAPH_COMMITS_SKIP_MISSING, &why);

	if (ret == ERR_CORRUPT) {
		if (w->o->warning)
			*w->o->warning = why;
		return 0;
	}
	if (ret < 0 && w->err)
		*w->err = why;
	return ret < 0 ? ret : 0;
}

/*
 * Adds the tips of all refs. Broken refs, and refs whose objects are damaged,
 * are skipped.
 */
static int add_refs(struct writing *w)
{
	struct error warning = ERROR_INIT;
	struct refs *refs;
	int ret = refs_open(&refs, w->odb->repo, w->err);

	if (ret < 0)
		return ret;
	ret = refs_each(refs, "", add_ref, w, &warning, w->err);
	refs_close(refs);
	return ret;
}

static int add_ids(struct writing *w)
{
	for (size_t i = 0; i < w->o->commit_nr; i++) {
		int ret = graph_commits_add(&w->commits, &w->o->commits[i],
					    GRAPH_COMMITS_REFUSE_MISSING,
					    w->err);

		if (ret < 0)
			return ret;
	}
	return 0;
}

static int add_packs(struct writing *w)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < w->odb->pack_nr; i++)
		ret = graph_commits_add_pack(&w->commits, w->odb->packs[i].pack,
					     w->err);
	return ret;
}

/*
 * Returns the pack in the directory of the new commit-graph whose .idx file has
 * this name, or NULL.
 */
static struct pack *find_pack(const struct writing *w, const char *name)
{
	const char *dir = w->odb->dirs[w->o->dir_nr];
	size_t dir_len = strlen(dir), len = strlen(name);

	if (len < 4 || strcmp(name + len - 4, ".idx") != 0)
		return NULL;
	for (uint32_t i = 0; i < w->odb->pack_nr; i++) {
		struct pack *pack = w->odb->packs[i].pack;

		if (!strncmp(pack->path, dir, dir_len) &&
		    !strncmp(pack->path + dir_len, "/pack/", 6) &&
		    strlen(pack->name) == len - 4 &&
		    !strncmp(pack->name, name, len - 4))
			return pack;
	}
	return NULL;
}

static int add_named_packs(struct writing *w)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < w->o->pack_nr; i++) {
		struct pack *pack = find_pack(w, w->o->packs[i]);

		if (!pack)
			return error_set(w->err, ERR_INVALID,
					 "error adding pack %s/pack/%s",
					 w->odb->dirs[w->o->dir_nr],
					 w->o->packs[i]);
		ret = graph_commits_add_pack(&w->commits, pack, w->err);
	}
	return ret;
}

static int add_sources(struct writing *w)
{
	if (w->o->append && w->graph) {
		int ret = graph_commits_add_graph(&w->commits, w->graph, 0,
						  GRAPH_COMMITS_REFUSE_MISSING,
						  w->err);

		if (ret < 0)
			return ret;
	}
	switch (w->o->source) {
	case COMMIT_GRAPH_FROM_REFS:
		return add_refs(w);
	case COMMIT_GRAPH_FROM_NAMED:
		return add_named_packs(w);
	case COMMIT_GRAPH_FROM_COMMITS:
		return add_ids(w);
	case COMMIT_GRAPH_FROM_PACKS:
		break;
	}
	return add_packs(w);
}

/* ---- layers below */

static bool is_split(const struct writing *w)
{
	return w->o->split.split != COMMIT_GRAPH_SPLIT_NONE;
}

/*
 * Returns the number of commits in the layers that the new chain keeps: the
 * lowest w->kept layers of w->graph.
 */
static uint32_t below_nr(const struct writing *w)
{
	if (!w->kept)
		return 0;
	return w->kept == w->graph->layer_nr
		       ? w->graph->nr
		       : w->graph->layers[w->kept].below_nr;
}

/*
 * Decides which layers are merged into the new layer, and adds the commits of
 * the merged layers.
 */
static int merge_layers(struct writing *w)
{
	w->kept = commit_graph_layers_kept(w->graph, w->o->dir_nr,
					   graph_commits_nr(&w->commits),
					   &w->o->split);
	if (w->commits.below_nr == below_nr(w))
		return 0;
	w->commits.below_nr = below_nr(w);
	if (graph_commits_add_graph(&w->commits, w->graph, below_nr(w),
				    GRAPH_COMMITS_SKIP_MISSING, w->err) < 0)
		return ERR_NOMEM;
	return graph_commits_reach(&w->commits, w->err);
}

/* Gets the generation numbers of a commit in a layer below the new layer. */
static int get_below(void *ctx, uint32_t graph_pos,
		     struct commit_graph_generation *generation,
		     struct error *err)
{
	const struct writing *w = ctx;
	const struct commit_graph_layer *layer = commit_graph_layer_of(
		w->graph, graph_pos);
	struct commit_graph_entry entry;
	int ret = commit_graph_entry(&entry, w->graph, graph_pos, err);

	if (ret < 0)
		return ret;
	generation->number = entry.generation;
	return commit_graph_layer_corrected(layer, graph_pos - layer->below_nr,
					    entry.date, &generation->corrected,
					    err);
}

/*
 * Returns whether to write corrected dates. They are useful only if all lower
 * layers have them.
 */
static bool wants_dates(const struct writing *w)
{
	bool wanted = w->o->generation_version == 2;

	for (size_t i = 0; i < w->kept; i++)
		wanted &= w->graph->layers[i].date_offsets != NULL;
	return wanted;
}

/* Appends the checksums of the layers that the new chain keeps. */
static int put_bases(struct buf *out, const struct writing *w)
{
	for (size_t i = 0; i < w->kept; i++)
		if (buf_append(out, w->graph->layers[i].checksum,
			       hash_len(w->odb->algo)) < 0)
			return error_nomem(w->err);
	return 0;
}

/* ---- steps */

static int number_commits(struct writing *w)
{
	const struct commit_graph_generations generations = {
		.records = w->records.records,
		.nr = w->records.nr,
		.parents = w->records.parents,
		.below_nr = below_nr(w),
		.below = get_below,
		.ctx = w,
		.progress = w->o->progress,
	};

	return commit_graph_generations_compute(&generations, w->err);
}

/*
 * Puts the new commit-graph file in place as a single file, which replaces an
 * existing chain. If the chain cannot be locked, it stays: another process may
 * be writing a new chain. Readers use the single file and ignore the chain.
 *
 * The chain is locked before the single file is renamed. Otherwise another
 * process could replace the new single file by a chain, which this process then
 * removes. Neither the file nor the chain would be left.
 */
static int install_single(struct writing *w, const struct buf *bytes)
{
	const struct commit_graph_options *o = w->o;
	int ret = commit_graph_chain_lock(&w->lock, w->odb, o->dir_nr, false,
					  NULL);

	if (ret == ERR_NOMEM)
		return error_nomem(w->err);
	ret = commit_graph_install(w->odb->repo, w->odb->dirs[o->dir_nr], bytes,
				   w->err);
	return ret < 0 ? ret
		       : commit_graph_chain_remove(&w->lock, w->odb, o->dir_nr,
						   o->expiry, w->err);
}

/* Puts the new commit-graph file in place. */
static int install(struct writing *w, const struct buf *bytes,
		   const struct oid *checksum)
{
	const struct commit_graph_chain chain = {
		.odb = w->odb,
		.dir_nr = w->o->dir_nr,
		.graph = w->graph,
		.kept = w->kept,
		.bytes = bytes,
		.checksum = checksum,
		.expiry = w->o->expiry,
	};

	return is_split(w)
		       ? commit_graph_chain_install(&chain, &w->lock, w->err)
		       : install_single(w, bytes);
}

/*
 * Returns whether to write changed-path filters, and sets w->bloom, the
 * settings of the filters. Filters of the old graph are reused if they have the
 * version of w->bloom.
 */
static bool wants_filters(struct writing *w)
{
	int64_t version = w->o->changed_paths_version;
	struct bloom_settings old;
	bool has_old = version && w->graph &&
		       commit_graph_filter_settings(&old, w->graph);

	if (version < 0 && has_old && (old.version == 1 || old.version == 2))
		version = old.version;
	w->bloom = bloom_settings(version == 2 ? 2 : 1);
	return w->o->changed_paths > 0 || (w->o->changed_paths < 0 && has_old);
}

static int compute_filters(struct writing *w)
{
	struct changed_paths_options o = {
		.max_new = w->o->max_new_filters,
		.threads = repo_threads(w->commits.walk.odb->repo),
		.old = w->o->changed_paths_version ? w->graph : NULL,
		.progress = w->o->progress,
	};

	if (!wants_filters(w))
		return 0;
	o.settings = w->bloom;
	return changed_paths_compute(&w->filters, &w->commits, &w->records, &o,
				     w->err);
}

static int write_file(struct writing *w)
{
	struct commit_graph_file file = {
		.algo = w->odb->algo,
		.records = w->records.records,
		.nr = w->records.nr,
		.parents = w->records.parents,
		.below_nr = below_nr(w),
		.with_dates = wants_dates(w),
		.filters = w->filters.filters,
		.bloom = w->bloom,
		.base_nr = (unsigned)w->kept,
		.progress = w->o->progress,
	};
	struct buf bytes = BUF_INIT, bases = BUF_INIT;
	struct oid checksum;
	int ret = put_bases(&bases, w);

	file.bases = (const uint8_t *)bases.data;
	if (!ret)
		ret = commit_graph_file_append(&bytes, &checksum, &file,
					       w->err);
	if (!ret)
		ret = install(w, &bytes, &checksum);
	buf_release(&bytes);
	buf_release(&bases);
	return ret;
}

static int write_graph(struct writing *w)
{
	int ret = add_sources(w);

	if (!ret)
		ret = graph_commits_reach(&w->commits, w->err);
	if (ret < 0 || !graph_commits_nr(&w->commits))
		return ret;
	ret = merge_layers(w);
	if (!ret)
		ret = graph_commits_records(&w->records, &w->commits, w->err);
	if (!ret)
		ret = number_commits(w);
	if (!ret)
		ret = compute_filters(w);
	if (!ret)
		ret = write_file(w);
	return ret < 0 ? ret : 1;
}

/*
 * Opens the existing commit-graph, even if a shallow file or replace refs
 * forbid readers to use it. A broken commit-graph is treated like a missing
 * one.
 *
 * If a chain is to be written, the existing chain is locked before it is read.
 * If there is no chain yet, install() takes the lock later, when there is
 * something to write: the lock file needs the chain's directory, which would
 * otherwise stay behind empty.
 */
static int open_old(struct writing *w)
{
	/*
	 * The rule that merges layers by their size is turned off in this step.
	 * The rule needs the number of new commits, which is not known yet.
	 */
	const struct commit_graph_split_options at_most = {
		.split = w->o->split.split == COMMIT_GRAPH_SPLIT_MERGE
				 ? COMMIT_GRAPH_SPLIT_NO_MERGE
				 : w->o->split.split,
	};
	int ret;

	if (!is_split(w)) {
		ret = commit_graph_open_dir(&w->graph, w->odb, w->o->dir_nr,
					    w->err);
		return ret == ERR_NOMEM ? ret : 0;
	}
	ret = commit_graph_chain_lock(&w->lock, w->odb, w->o->dir_nr, false,
				      w->err);
	if (!ret && commit_graph_open_first(&w->graph, w->odb, w->o->dir_nr,
					    w->err) == ERR_NOMEM)
		ret = ERR_NOMEM;
	if (!ret)
		w->kept = commit_graph_layers_kept(w->graph, w->o->dir_nr, 0,
						   &at_most);
	return ret;
}

int commit_graph_write(const struct odb *odb,
		       const struct commit_graph_options *options,
		       struct error *err)
{
	struct writing w = {
		.odb = odb,
		.o = options,
		.lock = COMMIT_GRAPH_CHAIN_LOCK_INIT,
		.records = GRAPH_RECORDS_INIT,
		.filters = CHANGED_PATHS_INIT,
		.err = err,
	};
	int ret = commit_graph_is_writable(odb->repo, err);

	if (ret <= 0 || !commit_graph_filter_version_is_known(
				options->changed_paths_version))
		return ret < 0 ? ret : 0;
	ret = open_old(&w);
	if (!ret)
		ret = graph_commits_open(&w.commits, odb, w.graph, below_nr(&w),
					 err);
	if (!ret) {
		w.commits.progress = options->progress;
		ret = write_graph(&w);
		graph_commits_close(&w.commits);
	}
	changed_paths_release(&w.filters);
	graph_records_release(&w.records);
	commit_graph_close(w.graph);
	commit_graph_chain_unlock(&w.lock);
	return ret;
}
