/* SPDX-License-Identifier: MIT */
/*
 * Fetching missing objects in a partial clone, when a command reads them.
 *
 * A remote is a promisor remote if remote.<name>.promisor is true or
 * remote.<name>.partialCloneFilter is set, or if extensions.partialClone names
 * it. The remotes are asked in the order of the configuration, that of
 * extensions.partialClone last. We have no `git fetch` of our own, so stock Git
 * fetches, with the command line that stock Git uses for this.
 *
 * If no remote gives an object that was promised, the read fails with ERR_PEER
 * ("could not fetch <id> from promisor remote"). Other objects are only
 * missing.
 *
 * GIT_NO_LAZY_FETCH=1 turns this off: what is missing is missing.
 */
#ifndef BUILTIN_LAZY_FETCH_H
#define BUILTIN_LAZY_FETCH_H

#include "builtin/builtin.h"
#include "odb/odb.h"

/* Which missing objects a command fetches. */
enum lazy_fetch_mode {
	/* Each object that is read. */
	LAZY_FETCH_READ,
	/*
	 * As LAZY_FETCH_READ. If GIT_NO_LAZY_FETCH is set, missing objects of a
	 * new pack are the error that stock Git reports for them.
	 */
	LAZY_FETCH_PACK,
	/* Only objects that the command asks for with odb_reader_provide(). */
	LAZY_FETCH_LISTED,
	/*
	 * As LAZY_FETCH_READ, but only GIT_NO_LAZY_FETCH=0 turns fetches on: a
	 * client should not make the server ask other servers. If no remote
	 * gives an object, the object is missing, and a warning is printed.
	 */
	LAZY_FETCH_SERVE,
};

/*
 * Make missing objects of the snapshot be fetched. Call this before objects are
 * read. Does nothing outside partial clones. Returns 0 or a negative error
 * code.
 */
int lazy_fetch_enable(struct odb *odb, struct builtin_env *env,
		      enum lazy_fetch_mode mode, struct error *err);

/*
 * Set *provider to what lazy_fetch_enable() would set, or to NULL. It is valid
 * until the command ends. A command has one mode. Returns 0 or a negative error
 * code.
 */
int lazy_fetch_provider(const struct odb_provider **provider,
			struct builtin_env *env, enum lazy_fetch_mode mode,
			struct error *err);

/* Free env->lazy_fetch. NULL is allowed. */
void lazy_fetch_free(struct lazy_fetch *lazy);

#endif
