/* SPDX-License-Identifier: MIT */
/*
 * Writes the commit-graph of the store, and removes commit-graphs that are out
 * of date.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "graph-write/commit-graph-write.h"
#include "graph/commit-graph-parts.h"
#include "network/network-repack-parts.h"
#include "odb/odb.h"
#include "sys/clock.h"
#include "sys/io.h"
#include "sys/tempdir.h"

#define FILE_PATH "info/commit-graph"
#define CHAIN_DIR "info/commit-graphs"
#define LAYER_LIFE_S (24 * 60 * 60)

/*
 * Returns 1 if the configuration of the store enables writing a commit-graph, 0
 * if not, or a negative error code.
 */
static int is_wanted(const struct repo *store, struct error *err)
{
	static const char *const keys[] = {
		"core.commitgraph",
		"gc.writecommitgraph",
	};
	bool wanted = true;

	for (size_t i = 0; i < ARRAY_NR(keys) && wanted; i++) {
		int ret = config_bool(&store->config, keys[i], &wanted, err);

		if (ret < 0)
			return ret;
	}
	return wanted;
}

int network_graph_write(const struct repo *store, bool anew, struct error *err)
{
	struct commit_graph_options options;
	struct odb *odb = NULL;
	int ret = is_wanted(store, err);

	if (ret <= 0)
		return ret;
	ret = commit_graph_options_load(&options, store, err);
	options.split.split = anew ? COMMIT_GRAPH_SPLIT_REPLACE
				   : COMMIT_GRAPH_SPLIT_MERGE;
	/*
	 * Keep replaced layers of the store's commit-graph for some time. A
	 * member's commit-graph may still build on one of these layers.
	 */
	options.expiry = sys_clock_seconds() - LAYER_LIFE_S;
	if (!ret)
		ret = odb_open(&odb, store, NULL, err);
	if (!ret)
		ret = commit_graph_write(odb, &options, err);
	odb_close(odb);
	return ret < 0 ? ret : 0;
}

/*
 * Returns 1 if the commit-graph names a commit that no longer exists, or if an
 * entry is corrupt. Returns 0 if not, or a negative error code. A commit-graph
 * that is ignored now because of replace refs is checked too, because readers
 * use it again when the replace refs are removed. Packs that are newer than the
 * snapshot are searched as well: the commit-graph may be younger than it.
 */
static int is_stale(const struct odb *odb, struct error *err)
{
	struct odb_reader *reader = odb_reader_new(odb, 0);
	struct commit_graph *graph = NULL;
	struct commit_graph_entry entry;
	int ret = reader ? commit_graph_open_dir(&graph, odb, 0, err)
			 : error_nomem(err);
	uint32_t nr = ret > 0 ? commit_graph_nr(graph) : 0;

	/* A commit-graph that cannot be opened stays. */
	ret = ret == ERR_NOMEM ? ret : 0;
	for (uint32_t i = 0; i < nr && !ret; i++) {
		struct oid oid;

		ret = commit_graph_entry(&entry, graph, i, err);
		if (ret < 0)
			continue;
		oid_from_raw(&oid, entry.oid, odb->algo);
		ret = !odb_reader_has(reader, &oid);
	}
	commit_graph_close(graph);
	odb_reader_free(reader);
	return ret == ERR_CORRUPT ? 1 : ret;
}

/*
 * Remove the commit-graph file and the commit-graph chain of a repository.
 * Returns 0 or a negative error code.
 */
static int remove_graph(const struct repo *repo, struct error *err)
{
	char *file = repo_object_path(repo, FILE_PATH);
	char *chain = repo_object_path(repo, CHAIN_DIR);
	int ret = file && chain ? sys_unlink(file, err) : error_nomem(err);

	if (!ret)
		ret = sys_tempdir_remove(chain, err);
	free(file);
	free(chain);
	return ret;
}

int network_graph_drop(const struct repo *store, const struct repo *member,
		       struct error *err)
{
	char *chain = repo_object_path(store, CHAIN_DIR "/commit-graph-chain");
	int ret = chain ? is_wanted(store, err) : error_nomem(err);

	if (ret > 0)
		ret = sys_exists(chain) ? remove_graph(member, err) : 0;
	free(chain);
	return ret;
}

int network_graph_clean(const struct repo *repo, struct error *err)
{
	char *file = repo_object_path(repo, FILE_PATH);
	char *chain = repo_object_path(repo, CHAIN_DIR);
	struct odb *odb = NULL;
	int ret = file && chain ? 0 : error_nomem(err);

	if (ret < 0 || (!sys_exists(file) && !sys_exists(chain)))
		goto out;
	ret = odb_open(&odb, repo, NULL, err);
	if (!ret)
		ret = is_stale(odb, err);
	if (ret > 0) {
		int failed = remove_graph(repo, err);

		ret = failed ? failed : ret;
	}
out:
	odb_close(odb);
	free(file);
	free(chain);
	return ret;
}
