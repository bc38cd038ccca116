/* SPDX-License-Identifier: MIT */
/*
 * Plans of packs that lack objects, because the receiver gets these objects
 * from elsewhere (struct packing_elsewhere).
 *
 *	pack is made:   tell(left out) -> plan->absent
 *	plan is used:   plan->absent -> still elsewhere? -> tell(left out)
 *
 * The key of a plan contains everything that a client may get from elsewhere
 * (plans/plan-cache.h). So a client that accepts no URIs never finds a plan of
 * an incomplete pack. The plan itself says which of the objects its pack lacks.
 */
#ifndef PLANS_PLAN_ELSEWHERE_H
#define PLANS_PLAN_ELSEWHERE_H

#include <stdbool.h>

#include "base/error.h"
#include "packing/send.h"
#include "plans/plan.h"

/*
 * Passes the calls of packing_send() on to the callbacks `to`, and notes in
 * `absent` the objects that the pack lacks.
 */
struct plan_elsewhere {
	const struct packing_elsewhere *to; /* borrowed */
	struct plan_absent *absent;         /* borrowed */
	/*
	 * id and length of the last pack about which packing_send() asked
	 * whether the receiver gets it from elsewhere
	 */
	struct oid asked;
	uint64_t asked_len;
	/*
	 * true: `absent` is incomplete, because memory ran out, or because the
	 * length of a lacking pack is not known
	 */
	bool has_failed;
};

/*
 * Returns callbacks for packing_send(). They pass each call on to `to`, and
 * note in *absent the objects that the sent pack lacks. *e and the result
 * borrow `to` and `absent`. `*absent` must be zero.
 */
struct packing_elsewhere plan_elsewhere_note(struct plan_elsewhere *e,
					     const struct packing_elsewhere *to,
					     struct plan_absent *absent);

/*
 * Tells the receiver which objects the pack of a plan lacks. `e` comes from the
 * request; NULL: the receiver gets nothing from elsewhere.
 *
 * Returns 1 if the plan can be sent. Returns 0, without telling the receiver
 * anything, if an object or pack is no longer available elsewhere. Otherwise
 * returns a negative error code.
 */
int plan_elsewhere_tell(const struct plan_absent *absent,
			const struct packing_elsewhere *e, struct error *err);

#endif
