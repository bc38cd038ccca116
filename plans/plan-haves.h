/* SPDX-License-Identifier: MIT */
/*
 * Reduces the common haves of a request to those that matter for the key of a
 * plan.
 *
 * A client names commits, often 16 in a row, until the server knows enough. How
 * many commits it names depends on the client's other branches. Two lists stand
 * for the same objects if their newest commits are the same:
 *
 *	haves  a - b - c - d      b - c - d      key: d
 *	            \- e              \- e            e
 */
#ifndef PLANS_PLAN_HAVES_H
#define PLANS_PLAN_HAVES_H

#include <stddef.h>

#include "object/oid.h"
#include "odb/odb.h"
#include "packing/send.h"

/*
 * Removes each have that is a parent of another have. `haves`: *nr sorted ids
 * without duplicates; they stay sorted. The remaining haves reach the same
 * objects as all haves together. Nothing is removed if parents may be absent:
 * the client has a shallow boundary, or the repository has a shallow boundary
 * or grafts. All haves also remain if there are very many, or if memory runs
 * out.
 *
 * Cost: finds the type and size of each have, and reads the commits of at most
 * 1 MiB. The parents of a larger commit remain. A client can name any object as
 * a have, so no other object is read.
 */
void plan_haves_reduce(struct oid *haves, size_t *nr, const struct odb *odb,
		       const struct packing_request *request);

#endif
