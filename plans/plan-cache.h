/* SPDX-License-Identifier: MIT */
/*
 * Plans of the packs that a server has sent lately. Requests that ask for the
 * same share a plan. While the first of them makes the pack, the others wait.
 *
 *	request -> key -> plan is there: send it                  ("hit")
 *	               -> another request makes it: wait, send it ("joined")
 *	               -> none: make the pack, note the plan      ("made")
 *	        -> no key: make the pack                          ("bypassed")
 *
 * The key is a hash of what the pack depends on: wants, common haves, shallow
 * boundary, filter, the tags that may be added, and the form of the pack.
 * Everything else (configuration, the set of packs) belongs to the owner of the
 * plan: an address that stands for one snapshot of a repository. So a push or a
 * repack gives further requests an owner without plans. What a client may see
 * must be decided before a pack is made.
 *
 * Plans are in memory. A request never fails for lack of memory for its plan.
 *
 * All functions may be called by several threads.
 */
#ifndef PLANS_PLAN_CACHE_H
#define PLANS_PLAN_CACHE_H

#include <stddef.h>

#include "base/error.h"
#include "packing/send.h"
#include "plans/plan.h"

struct plan_cache;
struct plan_entry;

/*
 * Returns a cache of up to `max` bytes of plans, each of up to a quarter of
 * that, or NULL if memory runs out.
 */
struct plan_cache *plan_cache_new(size_t max);

/* Requires that no request uses a plan. NULL is allowed. */
void plan_cache_free(struct plan_cache *cache);

/* Drops the plans of an owner, before the owner ends. NULL is allowed. */
void plan_cache_forget(struct plan_cache *cache, const void *owner);

/* Returns the bytes that the plans take up. */
size_t plan_cache_size(struct plan_cache *cache);

/* The type of packing_send(). `ctx` is for functions of tests. */
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
	 * entry was released. NULL: no other request can use the packs.
	 */
	const void *owner;
	const struct odb *odb;
	const struct packing_request *request;
	const struct packing_send_options *options;
	plan_make_fn make; /* NULL: packing_send() */
	void *make_ctx;
};

/*
 * Sends a pack, by a plan or as packing_send() does. report->response_plan
 * tells how. *used is NULL, or an entry that the caller releases when the sink
 * does not need its bytes any more (plan_send()). Returns 0 or a negative error
 * code.
 */
int plan_cache_send(struct plan_cache *cache, struct plan_entry **used,
		    const struct plan_question *question,
		    const struct pack_sink *sink, struct packing_report *report,
		    struct error *err);

/* NULL is allowed as entry. */
void plan_cache_release(struct plan_cache *cache, struct plan_entry *entry);

/* ---- key.c */

#define PLAN_KEY_LEN 32

/*
 * Computes the key of a request. Returns 1, 0 with *reason if the request has
 * none, or a negative error code.
 */
int plan_cache_key(uint8_t key[PLAN_KEY_LEN], const char **reason,
		   const struct plan_question *question, struct error *err);

#endif
