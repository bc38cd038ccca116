/* SPDX-License-Identifier: MIT */
/*
 * A directory of plans that processes share: the workers of gitreachd, and
 * processes of upload-pack and http-backend. A plan is a cached response to a
 * fetch: the recipe from which the same pack can be sent again (plans/plan.h).
 * The key of a plan is computed from the request (plan_cache_shared_key()).
 *
 *	<dir>/<key in hex>.plan   a plan (plans/plan-file.h)
 *	<dir>/keys                locks, and a table of keys that were asked for
 *
 * A request looks for a plan, and makes it if there is none. While a process
 * makes a plan, the others wait for it. All locks belong to open files, so a
 * killed maker harms nobody. Each key has three locks in the file "keys":
 *
 *	MAKER     exclusive   a process, the maker, makes the plan
 *	SENDING   exclusive   the maker sends bytes to its own client
 *	AWAITED   shared      other processes wait for the plan
 *
 * The maker of a plan also answers a request: while it makes the plan, it sends
 * the pack to its client. If it sees AWAITED, it sends no further bytes to this
 * client until the plan is stored. If the maker holds SENDING for some time,
 * its client is slow, and the other processes stop waiting for the plan.
 *
 * A plan that is small compared to the pack that it describes is stored at
 * once. A larger plan is stored only if another request waits for it, or when
 * its key is asked for a second time. So the directory has few plans that are
 * never used.
 *
 * The directory is a cache. If a file is damaged, the disk is full or the
 * directory is missing, there is no plan, but no request fails. Nothing is
 * synced to the disk, because a truncated file is noticed when it is read.
 *
 * A user who can write into the directory could change the packs that clients
 * get. So the directory must belong to the user of the process, and nobody else
 * may write into it.
 */
#ifndef PLANS_PLAN_DIR_H
#define PLANS_PLAN_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "odb/odb.h"
#include "plans/plan-file.h"
#include "sys/progress.h"

/* A directory of plans. Immutable, so threads may share it. */
struct plan_dir;

/*
 * Prepares to use the directory `path`, which must exist and be absolute, for
 * up to `max` bytes of plans. *warning says why the directory cannot be used
 * now; code 0: it can be used. Returns 0 with *out owned by the caller, or
 * ERR_NOMEM.
 */
int plan_dir_new(struct plan_dir **out, const char *path, uint64_t max,
		 struct error *warning, struct error *err);

/*
 * Default of gitreach.planDirectorySize: maximum size of all plans in the
 * directory, in bytes.
 */
#define PLAN_DIR_SIZE (UINT64_C(256) << 20)

/*
 * Works like plan_dir_new() for the directory that the configuration of a
 * repository names: gitreach.planDirectory and gitreach.planDirectorySize.
 * Values in the repository's own configuration file are ignored, because a
 * served repository must not choose where a server writes. *out is NULL if no
 * directory is configured. Returns 0, ERR_INVALID for a bad value, or
 * ERR_NOMEM.
 */
int plan_dir_load(struct plan_dir **out, const struct repo *repo,
		  struct error *warning, struct error *err);

/* Frees `dir`. NULL is allowed. */
void plan_dir_free(struct plan_dir *dir);

/*
 * Returns the maximum size in bytes of a plan that is stored in the directory.
 */
size_t plan_dir_plan_max(const struct plan_dir *dir);

/*
 * Returns 1 if the directory has the plan of `key`, and all packs of this plan
 * are in the snapshot `odb`. Otherwise returns 0. Makes no plan. Used by `git
 * bitmap explain`.
 */
int plan_dir_has(const struct plan_dir *dir, const uint8_t key[PLAN_KEY_LEN],
		 const struct odb *odb);

/*
 * The right of a thread to make the plan of a key. While the thread has the
 * claim, other processes that need the plan wait for it.
 */
struct plan_claim {
	const struct plan_dir *dir; /* borrowed */
	uint8_t key[PLAN_KEY_LEN];
	/*
	 * owned: descriptor of the file "keys", on which the locks are taken;
	 * -1: the plan will not be stored
	 */
	int locks;
	/* true: another process waited for the plan */
	bool is_awaited;
	/*
	 * The reason if the plan is not stored; a constant string. NULL: the
	 * plan will be stored or was stored.
	 */
	const char *reason;
};

/*
 * Looks for a plan (a cached response). While another process makes the plan,
 * waits, calls progress->poll about every 20 ms, and sets *has_waited to true.
 *
 * Returns 1 with the plan in *plan, whose spans are borrowed from the snapshot,
 * and its report in *report. Returns 0 if the caller is to make the plan. In
 * both cases, the caller releases *claim and *plan. If progress->poll cancels
 * the work, returns ERR_CANCELLED, and nothing has to be released.
 */
int plan_dir_find(struct plan_claim *claim, struct plan *plan,
		  struct packing_report *report, bool *has_waited,
		  const struct plan_dir *dir, const uint8_t key[PLAN_KEY_LEN],
		  const struct odb *odb, const struct progress_out *progress,
		  struct error *err);

/*
 * The maker of a plan (a cached response) calls plan_claim_begin_sending()
 * before it sends bytes to its client, and plan_claim_end_sending() after that.
 * Between the two calls, other processes see that the maker may be waiting for
 * its client.
 *
 * plan_claim_begin_sending() returns true if other processes wait for the plan.
 * The maker should then complete the plan before it sends anything.
 */
bool plan_claim_begin_sending(struct plan_claim *claim);
void plan_claim_end_sending(struct plan_claim *claim);

/*
 * Stores the plan if this is likely to be useful, so that waiting processes
 * find it. `is_awaited`: other requests in this process wait for the plan. If
 * the plan was not stored, claim->reason says why.
 */
void plan_claim_store(struct plan_claim *claim, const struct plan *plan,
		      const struct packing_report *report,
		      const struct odb *odb, bool is_awaited);

/*
 * Notes in the directory that the plan (a cached response) is too large to be
 * stored. Other processes then do not wait for it.
 */
void plan_claim_give_up(struct plan_claim *claim);

/*
 * Releases a claim, with its locks, so that another process may make the plan.
 */
void plan_claim_release(struct plan_claim *claim);

#endif
