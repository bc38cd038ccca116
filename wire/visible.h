/* SPDX-License-Identifier: MIT */
/*
 * Decides which objects clients may know of: those that visible refs reach.
 * Only some repositories limit their clients in this way.
 *
 * A member repository of a fork network borrows objects from the network's
 * store (islands/network.h), which has the objects of all members. So an object
 * that exists may belong to another member. In such a repository, the server
 * checks each id that a client names. If no visible ref reaches the object, the
 * server answers as if the object was missing, with the same messages.
 *
 * The checks are made in the order of their cost. A hint is a commit that a
 * caller names because its trees probably have the object (visible_hint()). A
 * hint is used only if a ref points to the commit.
 *
 *	check                                       cost
 *	1. a ref or a tag points to the object      one pass over the refs
 *	2. a commit: HEAD reaches it, or some       a walk by date for each of
 *	   other ref does                           the first few commits
 *	3. it is in the trees of HEAD or a hint     a walk over these trees
 *	4. HEAD reaches it, if there is a bitmap    one query for all objects
 *	   index
 *	5. any ref reaches it                       one bitmap query or one
 *	                                            walk for all objects (for
 *	                                            commits, over commits only)
 *
 * Check 2 is made only for the first few commits (WALKS_MAX in visible.c) that
 * need it. Each later commit goes on to checks 4 and 5, which find all visible
 * commits at once.
 *
 * A struct visible is used by one thread.
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

/* The key that decides whether clients only see objects that refs reach. */
#define VISIBLE_LIMIT_KEY "gitreach.reachableonly"

/*
 * Set *is_limit to true if clients may only know of objects that refs reach,
 * otherwise to false. The key gitreach.reachableOnly decides. Without the key,
 * *is_limit is true if the repository belongs to a fork network, as a member or
 * as the store (the repository with the shared objects). Reads
 * objects/info/alternates. Returns 0 or a negative error code.
 */
int visible_is_limit(bool *is_limit, const struct repo *repo,
		     struct error *err);

/*
 * Prepare queries about a repository. The visible refs are the refs that a
 * fetch in this namespace sees; NULL: no namespace. If an
 * uploadpack.allow*InWant key is true, hidden refs count as visible. `odb` and
 * `refs` are borrowed; `refs` must have been opened with uploadpack.hideRefs.
 * If `odb` or `refs` is NULL, this module opens it on first use. Returns 0
 * with *out owned by the caller, or a negative error code.
 */
int visible_open(struct visible **out, const struct repo *repo,
		 const char *namespace, const struct odb *odb,
		 struct refview *refs, struct error *err);
void visible_close(struct visible *v);

/*
 * Add a hint: a commit whose trees are likely to contain the queried objects,
 * such as a parent of pushed commits. A hint that no ref points to is ignored.
 * Returns 0 or a negative error code.
 */
int visible_hint(struct visible *v, const struct oid *oid, struct error *err);

/*
 * Returns 1 if clients may know of an object, 0 if not, or a negative error
 * code. An object that is reachable only through broken history is not visible.
 */
int visible_has(struct visible *v, const struct oid *oid, struct error *err);

#endif
