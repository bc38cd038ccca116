/* SPDX-License-Identifier: MIT */
/*
 * Puts a single commit-graph file in place in an object directory:
 *
 *    info/commit-graph   one file; used instead of a chain
 *
 * The file is written under the name of its lock, made durable (core.fsync),
 * and renamed. So readers see either the old graph or the new one.
 */
#ifndef GRAPH_COMMIT_GRAPH_STORE_H
#define GRAPH_COMMIT_GRAPH_STORE_H

#include "base/buf.h"
#include "base/error.h"
#include "repo/repo.h"

/*
 * Makes `bytes` the graph of the object directory `dir`. Returns 0, or an error
 * code with the old graph in place. ERR_DENIED means that another process holds
 * the lock ("Unable to create '...': File exists.").
 */
int commit_graph_install(const struct repo *repo, const char *dir,
			 const struct buf *bytes, struct error *err);

#endif
