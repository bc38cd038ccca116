/* SPDX-License-Identifier: MIT */
/*
 * The parts of git maintenance: the work of its tasks (maintenance-tasks.c),
 * the decision whether a task is needed (maintenance-need.c), and the choice of
 * tasks (maintenance.c).
 */
#ifndef BUILTIN_MAINTENANCE_PARTS_H
#define BUILTIN_MAINTENANCE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "builtin/gc-parts.h"
#include "odb/odb.h"

/* One run of the command. */
struct maintenance {
	const struct repo *repo; /* borrowed */
	struct gc_settings gc;
	bool quiet, automatic;
	struct error *err;
};

/* The tasks of git maintenance, in the order in which they run. */
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
	 * The two parts of the task. NULL: the task does not have this part.
	 * The foreground parts of all tasks run first; the background parts
	 * follow, perhaps in another process. Both functions return 0 or a
	 * negative error code.
	 */
	int (*foreground)(const struct maintenance *m);
	int (*background)(const struct maintenance *m);
	/*
	 * Called for --auto. Returns 1 if the task has work to do, 0 if not, or
	 * a negative error code.
	 */
	int (*needed)(const struct maintenance *m);
	/*
	 * true: the task deletes objects, so it is not run if
	 * extensions.preciousObjects is set
	 */
	bool deletes;
};

extern const struct maintenance_task maintenance_tasks[MAINTENANCE_TASK_NR];

/*
 * Load maintenance.geometric-repack.splitFactor; the default is 2. Returns 0 or
 * ERR_INVALID.
 */
int maintenance_split_factor(const struct maintenance *m, uint64_t *factor);

/*
 * Plan a geometric repack with the factor `factor`. Sets *nr to the number of
 * packs that may be repacked. These are the packs of the repository itself,
 * except kept, cruft and promisor packs. Sets *first to the number of packs
 * that the repack would join into one; they are the smallest of the *nr packs.
 * Returns 0 or ERR_NOMEM.
 */
int maintenance_geometry(const struct maintenance *m, const struct odb *odb,
			 uint64_t factor, size_t *first, size_t *nr);

/*
 * For --auto: decide whether a task is needed. Each function returns 1 if the
 * task is needed, 0 if not, or a negative error code.
 */
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
