/* SPDX-License-Identifier: MIT */
/*
 * Plans of the packs that a server has sent lately. Requests for equal packs
 * share a plan. While the first of these requests makes the pack, the other
 * requests wait.
 *
 * 	request -> key -> plan is there: send it                  ("hit")
 * 	               -> another request makes it: wait, send it ("joined")
 * 	               -> none: make the pack, note the plan      ("made")
 * 	        -> no key: make the pack                          ("bypassed")
 *
 * The key is a hash of all facts on which the pack depends: wants, common
 * haves, shallow boundary, filter, the tags that may be added, and the form of
 * the pack. A plan also has an owner: an address that stands for one snapshot
 * of a repository, with its configuration and packs. So after a push or a
 * repack, requests have another owner, which has no plans yet. The caller must
 * decide what a client may see before a pack is made.
 *
 * Plans are in memory, and in a directory that processes share
 * (plans/plan-dir.h). A plan that is not in memory is looked for in the
 * directory. If there is no memory or disk space for a plan, the request is
 * answered without a plan.
 *
 * All functions may be called by several threads.
 */
#ifndef PLANS_PLAN_CACHE_H
#define PLANS_PLAN_CACHE_H

#include <stddef.h>

#include "base/error.h"
#include "packing/send.h"
#include "plans/plan-dir.h"
#include "plans/plan-file.h"
#include "plans/plan.h"

struct plan_cache;
struct plan_entry;

/*
 * Returns a cache of up to `max` bytes of plans, or NULL if memory runs out.
 * One plan may take up to a quarter of `max`. `dir` is borrowed; NULL: plans
 * are only in memory. With a directory, `max` may be 0.
 */
struct plan_cache *plan_cache_new(size_t max, const struct plan_dir *dir);

/*
 * Frees the cache and its plans. When this is called, no request may be using a
 * plan. NULL is allowed.
 */
void plan_cache_free(struct plan_cache *cache);

/* Drops the plans of an owner, before the owner ends. NULL is allowed. */
void plan_cache_forget(struct plan_cache *cache, const void *owner);

/* Returns the bytes that the plans take up. */
size_t plan_cache_size(struct plan_cache *cache);

/*
 * A function that makes a pack, like packing_send(). Only functions of tests
 * use `ctx`.
 */
typedef int (*plan_make_fn)(void *ctx, const struct odb *odb,
			    const struct packing_request *request,
			    const struct packing_send_options *options,
			    struct pack_sink sink,
			    struct packing_report *report, struct error *err);

/* A request. All pointers are borrowed. */
struct plan_question {
	/*
	 * Stands for one snapshot of a repository. All packs of `odb` must stay
	 * open until plan_cache_forget() was called for the owner and its last
	 * entry was released. NULL: no other request can use the packs, so the
	 * plan is only in the directory. The packs of `odb` must then stay open
	 * until the entry is released.
	 */
	const void *owner;
	const struct odb *odb;
	const struct packing_request *request;
	const struct packing_send_options *options;
	/* NULL: packing_send() makes the pack */
	plan_make_fn make;
	void *make_ctx;
};

/*
 * Sends a pack, by a plan or as packing_send() does. report->response_plan says
 * how the pack was sent. report->no_response_plan says why no plan was used, or
 * why the new plan is not in the directory. *used is NULL or an entry. The
 * caller releases the entry when the sink no longer needs the sent bytes
 * (plan_send()). Returns 0 or a negative error code.
 */
int plan_cache_send(struct plan_cache *cache, struct plan_entry **used,
		    const struct plan_question *question,
		    const struct pack_sink *sink, struct packing_report *report,
		    struct error *err);

/*
 * Works like plan_cache_send(), with two preconditions. No other request may
 * use the snapshot question->odb, so question->owner must be NULL. When
 * a call of the sink returns, the sink must not need the bytes of the call any
 * more. Marks the packs of the snapshot as pinned. The caller has no entry to
 * release.
 */
int plan_cache_send_alone(struct plan_cache *cache,
			  const struct plan_question *question,
			  const struct pack_sink *sink,
			  struct packing_report *report, struct error *err);

/* Ends the use of an entry. `entry` may be NULL. */
void plan_cache_release(struct plan_cache *cache, struct plan_entry *entry);

/* ---- plan-key.c */

/*
 * Computes the key of a request. Returns 1 if the request has a key, 0 with
 * *reason set if it has none, or a negative error code.
 */
int plan_cache_key(uint8_t key[PLAN_KEY_LEN], const char **reason,
		   const struct plan_question *question, struct error *err);

/*
 * Computes the shared key from the key of a request. The shared key names a
 * plan's file in the directory. Besides the facts in `key`, the shared key
 * covers the repository, its shallow boundary and grafts, and the configuration
 * of packs. (In memory, the owner of a plan stands for these facts.) The packs
 * are not covered, because a plan names its packs. Returns 0 or a negative
 * error code.
 */
int plan_cache_shared_key(uint8_t shared[PLAN_KEY_LEN],
			  const uint8_t key[PLAN_KEY_LEN],
			  const struct plan_question *question,
			  struct error *err);

#endif
