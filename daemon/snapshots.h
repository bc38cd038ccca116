/* SPDX-License-Identifier: MIT */
/*
 * Open repositories that the requests of a worker share: configuration, packs,
 * their indexes and multi-pack-indexes, and packed-refs or reftables
 * (refs/refs-cache.h). Loose refs are not shared: each request reads them.
 *
 * A request sees all changes of configuration and objects that were made before
 * its start. A snapshot has two witnesses, which find changes of files
 * (sys/witness.h): one for the repository and its configuration, and one for
 * its packs. Each request checks the witnesses before it uses the snapshot. If
 * a file has changed, the files are read again.
 *
 *	daemon_snapshots         of one worker
 *	  +- daemon_snapshot     path -> struct repo, witness
 *	       +- packs          struct odb, witness; opened by the first
 *                            request that needs objects
 *
 * A snapshot lives until its last request ends, so packs that a repack removes
 * stay readable. The cache drops snapshots that no request has used for some
 * time. Otherwise, removed files would take up disk space as long as they are
 * mapped. A snapshot that is shared holds no file descriptors.
 *
 * In these cases a repository is opened for one request only: it is on a file
 * system that is not local; its configuration has includeIf; its git directory
 * is found through a .git file or commondir; it has broken packs or very many
 * packs.
 *
 * All functions may be called by several threads.
 */
#ifndef DAEMON_SNAPSHOTS_H
#define DAEMON_SNAPSHOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "odb/odb.h"
#include "repo/repo.h"

struct daemon_snapshots;
struct daemon_snapshot;
struct daemon_packs;

struct plan_cache;

/*
 * One request's use of an open repository (a snapshot), until its answer is
 * sent. During this time, the packs are marked as pinned (pack/pack.h).
 */
struct daemon_use {
	struct daemon_snapshot *snapshot; /* NULL: none */
	struct daemon_packs *packs;       /* NULL: not needed yet */
};

/*
 * Returns a cache of up to `max` (> 0) repositories, or NULL if memory runs
 * out. Before the cache closes packs, it removes their plans (cached responses)
 * from `plans`. `plans` is borrowed; NULL: there are no plans.
 */
struct daemon_snapshots *daemon_snapshots_new(size_t max,
					      struct plan_cache *plans);

/*
 * Frees the cache, and closes all repositories. No request may be using a
 * repository. NULL is allowed.
 */
void daemon_snapshots_free(struct daemon_snapshots *cache);

/*
 * Finds the snapshot of the repository at `path`, or opens the repository as
 * repo_open() does: with REPO_OPEN_EXACT if `exact` is set, else with
 * REPO_OPEN_ENTER. *use must be zero. Returns 0 with *repo borrowed from *use,
 * or a negative error code of repo_open().
 */
int daemon_snapshots_enter(struct daemon_snapshots *cache,
			   struct daemon_use *use, const char *path, bool exact,
			   const struct repo **repo, struct error *err);

/*
 * Sets *odb to the open packs of the repository that daemon_snapshots_enter()
 * has opened for *use. *odb is borrowed from *use. Packs that an earlier
 * request has opened are used again if they are unchanged. *warning and the
 * return values are those of odb_open().
 */
int daemon_snapshots_objects(struct daemon_snapshots *cache,
			     struct daemon_use *use, struct odb **odb,
			     struct error *warning, struct error *err);

/*
 * Returns an address that identifies the open packs: no other set of open packs
 * in this process has this address. The cache of plans (cached responses) uses
 * a plan only for requests with the same address (plan_question.owner). Returns
 * NULL if other requests cannot use the same packs.
 */
const void *daemon_snapshots_owner(const struct daemon_use *use);

/* Ends the use. A zeroed *use is allowed. */
void daemon_snapshots_leave(struct daemon_snapshots *cache,
			    struct daemon_use *use);

/* Returns the number of repositories that are open. */
size_t daemon_snapshots_nr(struct daemon_snapshots *cache);

/*
 * Closes the repositories that no request has used since `since_ns`
 * (sys_clock_ns()).
 */
void daemon_snapshots_expire(struct daemon_snapshots *cache, uint64_t since_ns);

#endif
