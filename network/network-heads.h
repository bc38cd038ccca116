/* SPDX-License-Identifier: MIT */
/*
 * What the members of a network have checked out, so to speak: the commits of
 * their HEADs, which clients ask for alone, with history (a clone of one
 * branch) or without (a clone of depth 1).
 *
 * Forks keep the HEAD of the time when they were made, so there may be as many
 * as members. The store is laid out for the most of them: for the first
 * member's, which is what most clients ask for, then for those that most
 * members have.
 */
#ifndef NETWORK_NETWORK_HEADS_H
#define NETWORK_NETWORK_HEADS_H

#include <stddef.h>

#include "base/error.h"
#include "object/oid.h"
#include "repo/repo.h"

/* Each costs a walk of its tree in every repack, and some deltas. */
#define NETWORK_HEADS_MAX 8

struct network_heads {
	struct oid *heads; /* owned: of each member that was added */
	size_t nr, alloc;
};

void network_heads_release(struct network_heads *heads);

/*
 * Add the HEAD of a member, unless it is unborn. The first member comes first.
 * 0 or negative.
 */
int network_heads_add(struct network_heads *heads, const struct repo *member,
		      struct error *err);

/*
 * Leave no more than NETWORK_HEADS_MAX, all different: those to lay the store
 * out for. 0 or negative.
 */
int network_heads_choose(struct network_heads *heads, struct error *err);

#endif
