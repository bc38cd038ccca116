/* SPDX-License-Identifier: MIT */
/*
 * Fetching missing objects in a partial clone, when a command reads them.
 *
 * A remote is a promisor remote if remote.<name>.promisor is true, if
 * remote.<name>.partialCloneFilter is set, or if extensions.partialClone names
 * it. The remotes are asked in the order of the configuration; the remote of
 * extensions.partialClone is asked last. We have no `git fetch` of our own, so
 * stock Git fetches, with the command line that stock Git itself uses.
 *
 * If no remote sends an object that was promised, the read fails with ERR_PEER
 * ("could not fetch <id> from promisor remote"). For an object that was not
 * promised, the read fails with ERR_MISSING.
 *
 * GIT_NO_LAZY_FETCH=1 turns fetching off. Then every missing object is an
 * error.
 */
#ifndef BUILTIN_LAZY_FETCH_H
#define BUILTIN_LAZY_FETCH_H

#include "builtin/builtin.h"
#include "odb/odb.h"

/* Which missing objects a command fetches. */
enum lazy_fetch_mode {
	/* Fetch each missing object that is read. */
	LAZY_FETCH_READ,
	/*
	 * Works like LAZY_FETCH_READ, for a command that writes a pack. If
	 * GIT_NO_LAZY_FETCH is set, a missing object causes the error that
	 * stock Git's pack-objects reports.
	 */
	LAZY_FETCH_PACK,
	/*
	 * Fetch only the objects for which the command calls
	 * odb_reader_provide().
	 */
	LAZY_FETCH_LISTED,
	/*
	 * Works like LAZY_FETCH_READ, but only if GIT_NO_LAZY_FETCH=0 is set.
	 * By default nothing is fetched: clients must not make this server send
	 * requests to other servers. If no remote sends the object that is
	 * read, a warning is printed, and the object counts as missing.
	 */
	LAZY_FETCH_SERVE,
};

/*
 * Let reads of `odb` fetch missing objects. Must be called before objects are
 * read. Does nothing outside partial clones. Returns 0 or a negative error
 * code.
 */
int lazy_fetch_enable(struct odb *odb, struct builtin_env *env,
		      enum lazy_fetch_mode mode, struct error *err);

/*
 * Set *provider to the callback that lazy_fetch_enable() would install, or to
 * NULL outside partial clones. *provider is valid until the command ends. All
 * calls of one command must pass the same `mode`. Returns 0 or a negative error
 * code.
 */
int lazy_fetch_provider(const struct odb_provider **provider,
			struct builtin_env *env, enum lazy_fetch_mode mode,
			struct error *err);

/* Free env->lazy_fetch. NULL is allowed. */
void lazy_fetch_free(struct lazy_fetch *lazy);

#endif
