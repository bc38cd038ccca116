/* SPDX-License-Identifier: MIT */
/*
 * Collects the HEAD commits of the members. Clients often ask for such a commit
 * alone: with history (a clone of one branch) or without (a clone of depth 1).
 *
 * A fork keeps the HEAD that it was made with, so there may be as many
 * different HEADs as members. The store is laid out for a few of them: for the
 * first member's HEAD, which most clients ask for, then for the HEADs that most
 * members have.
 */
#ifndef NETWORK_NETWORK_HEADS_H
#define NETWORK_NETWORK_HEADS_H

#include <stddef.h>

#include "base/error.h"
#include "object/oid.h"
#include "repo/repo.h"

/*
 * Most heads that are used. Each costs a walk of its tree in every repack, and
 * some deltas.
 */
#define NETWORK_HEADS_MAX 8

struct network_heads {
	/* owned: one per added member */
	struct oid *heads;
	size_t nr, alloc;
};

void network_heads_release(struct network_heads *heads);

/*
 * Add the HEAD of a member, unless it is unborn. Add the first member first.
 * Returns 0 or a negative error code.
 */
int network_heads_add(struct network_heads *heads, const struct repo *member,
		      struct error *err);

/*
 * Reduce the list to the NETWORK_HEADS_MAX most important heads, without
 * duplicates. Returns 0 or ERR_NOMEM.
 */
int network_heads_choose(struct network_heads *heads, struct error *err);

#endif
