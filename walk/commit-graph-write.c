/* SPDX-License-Identifier: MIT */
/* From refs, packs or ids to a commit-graph file. */
#include "base/mem.h"
#include "repo/commit-graph-levels.h"
#include "repo/commit-graph-store.h"
#include "repo/refs.h"
#include "walk/graph-commits.h"
#include "walk/commit-graph-write.h"

/* A graph in the making. */
struct writing {
	const struct odb *odb;
	const struct commit_graph_options *o;
	struct graph_commits commits;
	struct graph_records records;
	struct error *err;
};

int commit_graph_options_load(struct commit_graph_options *o,
			      const struct repo *repo, struct error *err)
{
	int64_t version = 2;
	int ret = config_i64(&repo->config, "commitgraph.generationversion",
			     &version, err);

	*o = (struct commit_graph_options){
		.source = COMMIT_GRAPH_FROM_REFS,
		.generation_version = version == 2 ? 2 : 1,
	};
	return ret < 0 ? ret : 0;
}

/* ---- where to start */

static int add_ref(void *ctx, const struct ref *ref)
{
	struct writing *w = ctx;
	const struct oid *oid = ref->has_peeled && ref->is_tag ? &ref->peeled
							       : &ref->oid;
	int ret = graph_commits_add(&w->commits, oid,
				    GRAPH_COMMITS_SKIP_MISSING, w->err);

	return ret < 0 ? ret : 0;
}

/* Broken refs are left out. */
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

static int add_sources(struct writing *w)
{
	switch (w->o->source) {
	case COMMIT_GRAPH_FROM_REFS:
		return add_refs(w);
	case COMMIT_GRAPH_FROM_COMMITS:
		return add_ids(w);
	case COMMIT_GRAPH_FROM_PACKS:
		break;
	}
	return add_packs(w);
}

/* ---- the way through */

static int number_commits(struct writing *w)
{
	const struct commit_graph_levels levels = {
		.records = w->records.records,
		.nr = w->records.nr,
		.parents = w->records.parents,
		.progress = w->o->progress,
	};

	return commit_graph_levels_compute(&levels, w->err);
}

static int write_file(struct writing *w)
{
	const struct commit_graph_file file = {
		.algo = w->odb->algo,
		.records = w->records.records,
		.nr = w->records.nr,
		.parents = w->records.parents,
		.with_dates = w->o->generation_version == 2,
		.progress = w->o->progress,
	};
	struct buf bytes = BUF_INIT;
	struct oid checksum;
	int ret = commit_graph_file_append(&bytes, &checksum, &file, w->err);

	if (!ret)
		ret = commit_graph_install(w->odb->repo,
					   w->odb->dirs[w->o->dir_nr], &bytes,
					   w->err);
	buf_release(&bytes);
	return ret;
}

static int write_graph(struct writing *w)
{
	int ret = add_sources(w);

	if (!ret)
		ret = graph_commits_reach(&w->commits, w->err);
	if (ret < 0 || !graph_commits_nr(&w->commits))
		return ret;
	ret = graph_commits_records(&w->records, &w->commits, w->err);
	if (!ret)
		ret = number_commits(w);
	if (!ret)
		ret = write_file(w);
	return ret < 0 ? ret : 1;
}

int commit_graph_write(const struct odb *odb,
		       const struct commit_graph_options *options,
		       struct error *err)
{
	struct writing w = {
		.odb = odb,
		.o = options,
		.records = GRAPH_RECORDS_INIT,
		.err = err,
	};
	int ret = commit_graph_is_writable(odb->repo, err);

	if (ret <= 0)
		return ret;
	ret = graph_commits_open(&w.commits, odb, NULL, 0, err);
	if (ret < 0)
		return ret;
	w.commits.progress = options->progress;
	ret = write_graph(&w);
	graph_records_release(&w.records);
	graph_commits_close(&w.commits);
	return ret;
}
