/* SPDX-License-Identifier: MIT */
/*
 * What the clients of a repository may know of, where that is less than what
 * there is: the objects that its visible refs reach.
 *
 * A repository that borrows from the store of a fork network
 * (islands/network.h) finds there what all other members have. That an object
 * exists says nothing about whose it is, so for such a repository each id that
 * a client names is looked for among what the visible refs reach: one that is
 * not there is as good as missing, in the same words.
 *
 * Answers are found the cheapest way that knows:
 *
 *	1. refs or tags behind them name it         one pass over the refs
 *	2. a commit: HEAD is ahead of it, or        a walk by date, a few times
 *	   some ref is
 *	3. it is in the trees of HEAD, or a hint    a walk over these trees
 *	4. all that HEAD reaches, if the bitmap     once
 *	   index knows
 *	5. all that refs reach: by the bitmap       once
 *	   index, or else by walking (for commits
 *	   over commits only)
 *
 * One thread.
 */
#ifndef WIRE_VISIBLE_H
#define WIRE_VISIBLE_H

#include <stdbool.h>

#include "base/error.h"
#include "object/oid.h"
#include "odb/odb.h"
#include "repo/repo.h"
#include "wire/refview.h"

struct visible;

/*
 * Whether clients of a repository are limited to what refs reach:
 * gitreach.reachableOnly, by default when it borrows from the store of a
 * network, or is one. 0 or negative. Reads objects/info/alternates.
 */
int visible_is_limit(bool *is_limit, const struct repo *repo,
		     struct error *err);

/*
 * Prepare to answer for a repository: the refs are those that a fetch in this
 * namespace (NULL: none) sees, and hidden ones where uploadpack.allow*InWant
 * give what hidden refs have. `odb` and `refs` (of uploadpack.hideRefs) are
 * borrowed; NULL: an own one is opened, when needed. 0 with *out owned by the
 * caller, or negative.
 */
int visible_open(struct visible **out, const struct repo *repo,
		 const char *namespace, const struct odb *odb,
		 struct refview *refs, struct error *err);
void visible_close(struct visible *v);

/*
 * A commit in whose trees objects are likely to be asked for, such as what a
 * push builds on; of no effect unless it is visible. 0 or negative.
 */
int visible_hint(struct visible *v, const struct oid *oid, struct error *err);

/*
 * Whether clients may know of an object: 1, 0 or negative. What is behind
 * broken history is not visible.
 */
int visible_has(struct visible *v, const struct oid *oid, struct error *err);

#endif
