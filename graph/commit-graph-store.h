/* SPDX-License-Identifier: MIT */
/*
 * Commit-graph files becoming visible in an object directory:
 *
 *   info/commit-graph   one file; wins over a chain
 *
 * It is written under its lock's name, made durable as core.fsync says, and
 * renamed: there is the old graph or the new one.
 */
#ifndef GRAPH_COMMIT_GRAPH_STORE_H
#define GRAPH_COMMIT_GRAPH_STORE_H

#include "base/buf.h"
#include "base/error.h"
#include "repo/repo.h"

/*
 * Make `bytes` the graph of the object directory `dir`. 0; ERR_DENIED when
 * another process is at it ("Unable to create '...': File exists.") or another
 * error with the old graph in place.
 */
int commit_graph_install(const struct repo *repo, const char *dir,
			 const struct buf *bytes, struct error *err);

#endif
