/* SPDX-License-Identifier: MIT */
/*
 * Receives a push for a repository that is in a store. The push arrives in the
 * node's local copy of this repository (a cached replica). From there, the push
 * is written into the store.
 */
#ifndef BUILTIN_SERVING_COPY_H
#define BUILTIN_SERVING_COPY_H

#include "copies/push.h"
#include "receive/receive-pack.h"

/*
 * The state of a push. If the repository is a local copy of a repository in a
 * store, the callbacks in `target` write the push into the store.
 */
struct serving_copy {
	/* owned: the local copy; NULL: the repository is not a local copy */
	struct stored_copy *copy;
	struct stored_push *push; /* owned */
	/*
	 * owned: the same repository, opened again after the local copy was
	 * brought to the newest generation
	 */
	struct repo *repo;
	struct receive_target target;
};

/*
 * Begin a push if the repository is a local copy of a repository in a store;
 * otherwise do nothing. Brings the copy to the newest generation, and removes
 * objects that the store does not have. Call this in the directory of the
 * repository, before refs are read. *c must stay at its address, and `repo`
 * must outlive *c.
 *
 * Messages for the administrator go to the trace. They also go to standard
 * error, unless standard error is sent to an ssh client. Returns 0 or a
 * negative error code. Close *c in any case.
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
 * Returns the repository to serve. If serving_copy_open() has updated a local
 * copy of a repository in a store, this is the copy as it was opened again
 * after the update; it is valid until serving_copy_close(). Otherwise returns
 * `repo`.
 */
const struct repo *serving_copy_repo(const struct serving_copy *c,
				     const struct repo *repo);

#endif
