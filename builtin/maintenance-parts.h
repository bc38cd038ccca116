/* SPDX-License-Identifier: MIT */
/*
 * git maintenance in parts: what its tasks do (maintenance-tasks.c), when it is
 * time for them (maintenance-need.c), and which are run (maintenance.c).
 */
#ifndef BUILTIN_MAINTENANCE_PARTS_H
#define BUILTIN_MAINTENANCE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "builtin/gc-options.h"
#include "odb/odb.h"

/* One run of the command. */
struct maintenance {
	const struct repo *repo; /* borrowed */
	struct gc_settings gc;
	bool quiet, automatic;
	struct error *err;
};

/* In the order in which they are run. */
enum maintenance_id {
	MAINTENANCE_PREFETCH,
	MAINTENANCE_LOOSE_OBJECTS,
	MAINTENANCE_INCREMENTAL_REPACK,
	MAINTENANCE_GEOMETRIC_REPACK,
	MAINTENANCE_GC,
	MAINTENANCE_COMMIT_GRAPH,
	MAINTENANCE_PACK_REFS,
	MAINTENANCE_REFLOG_EXPIRE,
	MAINTENANCE_WORKTREE_PRUNE,
	MAINTENANCE_RERERE_GC,
	MAINTENANCE_TASK_NR,
};

struct maintenance_task {
	const char *name;
	/*
	 * What is done at once, before any other task's `background`, and what
	 * nobody has to wait for; NULL: nothing. 0 or negative.
	 */
	int (*foreground)(const struct maintenance *m);
	int (*background)(const struct maintenance *m);
	/* For --auto: 1, 0 or negative. */
	int (*needed)(const struct maintenance *m);
};

extern const struct maintenance_task maintenance_tasks[MAINTENANCE_TASK_NR];

/*
 * maintenance.geometric-repack.splitFactor; 2 by default. 0 or ERR_INVALID.
 */
int maintenance_split_factor(const struct maintenance *m, uint64_t *factor);

/*
 * How a geometric repack by `factor` would end: *nr packs of its own are there
 * that it may touch, and the *first smallest of them would become one.
 */
int maintenance_geometry(const struct maintenance *m, const struct odb *odb,
			 uint64_t factor, size_t *first, size_t *nr);

/* Conditions, see struct maintenance_task. */
int maintenance_needs_gc(const struct maintenance *m);
int maintenance_needs_commit_graph(const struct maintenance *m);
int maintenance_needs_loose_objects(const struct maintenance *m);
int maintenance_needs_incremental_repack(const struct maintenance *m);
int maintenance_needs_geometric_repack(const struct maintenance *m);
int maintenance_needs_pack_refs(const struct maintenance *m);
int maintenance_needs_reflog_expire(const struct maintenance *m);
int maintenance_needs_worktree_prune(const struct maintenance *m);
int maintenance_needs_rerere_gc(const struct maintenance *m);

#endif
