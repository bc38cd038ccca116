/* SPDX-License-Identifier: MIT */
/* Pushes into the local copy of a repository in a store. */
#ifndef BUILTIN_SERVING_COPY_H
#define BUILTIN_SERVING_COPY_H

#include "copies/push.h"
#include "receive/receive-pack.h"

/*
 * The state of a push into a local copy. `target` has the callbacks that store
 * the push.
 */
struct serving_copy {
	/* owned; NULL: the repository is not a local copy */
	struct stored_copy *copy;
	struct stored_push *push; /* owned */
	/*
	 * owned: the repository, opened a second time after the copy was
	 * brought to the newest generation
	 */
	struct repo *repo;
	struct receive_target target;
};

/*
 * If the repository is a local copy of one in a store, begin a push: bring the
 * copy to the newest generation, and remove objects from it that the store does
 * not have. Call this before refs are read, in the directory of the repository.
 * *c must stay at its address, and `repo` must outlive it.
 *
 * Messages for the administrator go to the trace. They also go to standard
 * error, unless an ssh client reads it. Returns 0 or a negative error code.
 * Close *c in any case.
 */
int serving_copy_open(struct serving_copy *c, const struct repo *repo,
		      struct error *err);
void serving_copy_close(struct serving_copy *c);

/*
 * Returns the target for struct receive_options, or NULL if the repository is
 * not a local copy of a repository in a store.
 */
const struct receive_target *serving_copy_target(const struct serving_copy *c);

/*
 * Returns the repository to serve. For a local copy of a repository in a store,
 * this is the copy, opened after it was brought to the newest generation. It
 * lives until serving_copy_close(). For other repositories, returns `repo`.
 */
const struct repo *serving_copy_repo(const struct serving_copy *c,
				     const struct repo *repo);

#endif
