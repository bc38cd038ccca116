/* SPDX-License-Identifier: MIT */
/*
 * The lease of a repository in a store: a file that says which node maintains
 * the repository, so that other nodes leave this work to it.
 *
 * A lease is only advice. Two nodes that maintain a repository at the same time
 * waste work and lose nothing, because generation_commit() refuses the second
 * result.
 */
#ifndef GENERATIONS_LEASE_H
#define GENERATIONS_LEASE_H

#include "generations/history.h"

struct generation_lease {
	const struct generation_place *place; /* borrowed */
	const char *node;                     /* borrowed */
	uint8_t token[GENERATION_TOKEN_LEN];  /* of this holder */
};

/*
 * Takes the lease of a repository for `node`, a name without control
 * characters. Both `place` and `node` must live as long as *lease.
 *
 * If another holder wrote the lease more than `max_age` seconds ago, the lease
 * is taken over, because its holder has probably died. The age is measured by
 * the clock of the store, or by the clock of this node if the store's time is
 * unknown. If `max_age` is INT64_MIN, any lease is taken over.
 *
 * Returns 0 with *lease filled. Returns STORE_CONFLICT if another holder has
 * the lease; the name of its node is appended to *holder. Returns
 * STORE_UNAVAILABLE or a negative error code after a failure.
 */
int generation_lease_take(struct generation_lease *lease,
			  const struct generation_place *place,
			  const char *node, int64_t max_age, struct buf *holder,
			  struct error *err);

/*
 * Writes the lease again, so that its age begins anew. Returns 0, or
 * STORE_CONFLICT if the lease was deleted or another holder has taken it over.
 * Returns STORE_AMBIGUOUS, STORE_UNAVAILABLE or a negative error code after a
 * failure; the caller may then try again.
 */
int generation_lease_renew(const struct generation_lease *lease,
			   struct error *err);

/*
 * Renews the lease and then deletes it, unless another holder has taken it
 * over. If the deletion fails, the lease is taken over later because of its
 * age. Returns 0, STORE_AMBIGUOUS, STORE_UNAVAILABLE, or a negative error code.
 */
int generation_lease_drop(const struct generation_lease *lease,
			  struct error *err);

#endif
