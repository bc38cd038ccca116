/* SPDX-License-Identifier: MIT */
/*
 * A cache of plans. A plan describes a pack that was sent, so that the pack can
 * be sent again without making it (plans/plan.h). Requests for equal packs
 * share a plan. While the first of these requests makes the pack, the other
 * requests wait.
 *
 *	request -> key -> plan is there: send it                  ("hit")
 *	               -> another request makes it: wait, send it ("joined")
 *	               -> none: make the pack, note the plan      ("made")
 *	        -> no key: make the pack                          ("bypassed")
 *
 * The key is a hash of all facts on which the pack depends: wants, common
 * haves, shallow boundary, filter, the tags that may be added, and the form of
 * the pack. A plan in memory belongs to one snapshot of a repository, with its
 * configuration and packs, and is used only for this snapshot. So plans in
 * memory are not used any more after a push or a repack. A plan in the
 * directory (below) can still be used if the repository has all packs from
 * which the plan takes bytes. The caller checks access rights before it calls
 * the cache.
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

#include <stdbool.h>
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
 * Frees the cache and its plans. No request may be using a plan of the cache.
 * NULL is allowed.
 */
void plan_cache_free(struct plan_cache *cache);

/*
 * Drops all plans (cached responses) of a snapshot of a repository. `owner` is
 * the address that identifies the snapshot (struct plan_question). Must be
 * called before the packs of the snapshot are closed. `cache` may be NULL.
 */
void plan_cache_forget(struct plan_cache *cache, const void *owner);

/* Returns the memory that all plans of the cache take up, in bytes. */
size_t plan_cache_size(struct plan_cache *cache);

/*
 * A function that is called in place of packing_send() to make a pack. Only
 * tests use `ctx`.
 */
typedef int (*plan_make_fn)(void *ctx, const struct odb *odb,
			    const struct packing_request *request,
			    const struct packing_send_options *options,
			    struct pack_sink sink,
			    struct packing_report *report, struct error *err);

/* A request. All pointers are borrowed. */
struct plan_question {
	/*
	 * Identifies a snapshot of a repository by any address that is unique
	 * in this process. Requests with equal keys and an equal `owner` share
	 * a plan. All packs of `odb` must stay open until plan_cache_forget()
	 * was called with this address, and the last entry with this address
	 * was released.
	 *
	 * NULL: no other request uses the snapshot. Requests then do not share
	 * plans in memory. They share only the plan files in the cache's
	 * directory (plans/plan-dir.h). All packs of `odb` must stay open until
	 * the entry of this request is released.
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
 * Sends the pack for the request `question`: by a plan if one exists, otherwise
 * a pack that is made now.
 *
 * Sets two fields of *report (packing/send.h). `response_plan` says whether the
 * pack was cached. `no_response_plan` is the reason why the pack was not
 * cached, or why its plan was not stored in the directory.
 *
 * Sets *used to the entry of the plan, or to NULL if there is no entry. The
 * caller releases the entry when the sink has used all bytes that it got
 * (plan_send()). Returns 0 or a negative error code.
 */
int plan_cache_send(struct plan_cache *cache, struct plan_entry **used,
		    const struct plan_question *question,
		    const struct pack_sink *sink, struct packing_report *report,
		    struct error *err);

/*
 * Works like plan_cache_send(), for a snapshot of the packs that only this
 * request uses. There are two preconditions. First, no other request uses the
 * snapshot question->odb, and question->owner is NULL. Second, after the call,
 * the sink needs none of the bytes that it got.
 *
 * Marks the packs of the snapshot as pinned: they stay open until the response
 * was sent (struct pack). Releases the entry of the plan, so the caller has no
 * entry to release.
 */
int plan_cache_send_alone(struct plan_cache *cache,
			  const struct plan_question *question,
			  const struct pack_sink *sink,
			  struct packing_report *report, struct error *err);

/*
 * Ends the use of an entry that plan_cache_send() has set in *used. `entry` may
 * be NULL.
 */
void plan_cache_release(struct plan_cache *cache, struct plan_entry *entry);

/* ---- plan-key.c */

/*
 * Computes the key of a request, which equal requests share. Returns 1 if the
 * request has a key. Returns 0 if it has none, with *reason set to a constant
 * string that says why. Otherwise returns a negative error code.
 */
int plan_cache_key(uint8_t key[PLAN_KEY_LEN], const char **reason,
		   const struct plan_question *question, struct error *err);

/*
 * Computes the shared key from the key of a request. The shared key names a
 * plan's file in the directory. Besides the facts in `key`, the shared key
 * covers the repository, its shallow boundary and grafts, and the configuration
 * of packs. The packs are not covered, because the file of a plan names its
 * packs. Returns 0 or a negative error code.
 */
int plan_cache_shared_key(uint8_t shared[PLAN_KEY_LEN],
			  const uint8_t key[PLAN_KEY_LEN],
			  const struct plan_question *question,
			  struct error *err);

/*
 * Plans of packs that lack objects, because the receiver gets these objects
 * from elsewhere: from a URI, such as that of a web server (struct
 * packing_elsewhere).
 *
 *	pack is made:   tell(left out) -> plan->absent
 *	plan is used:   plan->absent -> still elsewhere? -> tell(left out)
 *
 * tell() is the callback that says which objects are left out of the pack.
 *
 * Clients differ in the objects or packs that they may get from elsewhere. The
 * key of a plan includes the ids of all these objects or packs
 * (plans/plan-key.c). So clients with different ids never share a plan, and a
 * client that accepts no URIs never finds a plan of an incomplete pack. The
 * plan itself says which objects its pack lacks.
 */

/*
 * State of callbacks that packing_send() calls. Each callback calls the
 * callback of the same name in `to`. Besides, these callbacks note in `absent`
 * the objects that are left out of the pack because the receiver gets them from
 * elsewhere.
 */
struct plan_elsewhere {
	const struct packing_elsewhere *to; /* borrowed */
	struct plan_absent *absent;         /* borrowed */
	/*
	 * Checksum and length of a pack: the pack about which packing_send()
	 * has asked last. packing_send() calls has_pack() to ask whether the
	 * receiver can get this pack from another place, such as a web server.
	 * If tell() then says that the pack is left out, its length is known
	 * from here.
	 */
	struct oid asked;
	uint64_t asked_len;
	/*
	 * true: `absent` is incomplete, so the plan must not be used. There are
	 * two possible reasons:
	 * - Memory has run out.
	 * - The receiver gets a whole stored pack from another place. `absent`
	 *   must have the checksum and the length of this pack, because both
	 *   are needed to ask for the pack when the plan is used
	 *   (plan_elsewhere_tell()). tell() gives only the checksum. The length
	 *   is known only if has_pack() was asked about this pack last.
	 */
	bool has_failed;
};

/*
 * Returns callbacks for packing_send(). They pass each call on to `to`. They
 * also note in *absent the objects that are left out of the sent pack because
 * the receiver gets them from elsewhere. *e and the result borrow `to` and
 * `absent`. `*absent` must be zero.
 */
struct packing_elsewhere plan_elsewhere_note(struct plan_elsewhere *e,
					     const struct packing_elsewhere *to,
					     struct plan_absent *absent);

/*
 * Tells the receiver which objects the pack of a plan lacks. The receiver gets
 * these objects from another place, such as a web server. `e` comes from the
 * request, and has the objects and packs that such places offer. NULL: there
 * are none.
 *
 * Returns 1 if the plan can be sent. Returns 0, without telling the receiver
 * anything, if another place no longer offers an object or pack that the plan
 * lacks. Otherwise returns a negative error code.
 */
int plan_elsewhere_tell(const struct plan_absent *absent,
			const struct packing_elsewhere *e, struct error *err);

#endif
