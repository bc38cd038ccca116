/* SPDX-License-Identifier: MIT */
/* Estimates the CPU time of packs. */
#include "packing/price.h"

/*
 * Estimated costs in microseconds. They need not be exact: a price must only
 * have the right order of magnitude.
 */
#define TREE_DIFF_US 30    /* comparing the trees of a commit */
#define WALKED_OBJECT_US 2 /* finding an object in a walk of all history */
#define UNKNOWN_WALK_US 10000
#define ITEM_US 10         /* an object that is sent by itself */
#define SPAN_OBJECT_US 1   /* copying and hashing a stored object */
#define DEFLATED_PER_US 20 /* bytes searched and deflated */

uint64_t packing_price_walk(const struct packing_request *request,
			    const struct bitmap_plan *plan, uint32_t object_nr)
{
	if (plan->reason && plan->walk_cost != UINT64_MAX)
		return plan->walk_cost > UINT64_MAX / TREE_DIFF_US
			       ? UINT64_MAX
			       : plan->walk_cost * TREE_DIFF_US;
	/*
	 * The length of history is unknown before the walk, so the price is a
	 * guess.
	 */
	if (request->have_nr || request->shallow_nr)
		return UNKNOWN_WALK_US;
	return (uint64_t)object_nr * WALKED_OBJECT_US;
}

uint64_t packing_price_send(size_t span_nr, size_t item_nr)
{
	return (uint64_t)span_nr * SPAN_OBJECT_US + (uint64_t)item_nr * ITEM_US;
}

uint64_t packing_price_deflate(uint64_t len)
{
	return len / DEFLATED_PER_US;
}

/* The maximum price, an hour, also for a walk whose cost is unknown. */
#define PRICE_MAX_US UINT64_C(3600000000)

int packing_admit(unsigned *threads, const struct packing_send_options *options,
		  uint64_t price_us, struct error *err)
{
	const struct packing_admission *admission = options->admission;
	unsigned granted = 0;
	int ret;

	*threads = options->threads;
	if (!admission)
		return 0;
	if (price_us > PRICE_MAX_US)
		price_us = PRICE_MAX_US;
	ret = admission->admit(admission->ctx, price_us, &granted, err);
	if (!ret && granted && (!*threads || *threads > granted))
		*threads = granted;
	return ret;
}
