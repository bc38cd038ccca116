/* SPDX-License-Identifier: MIT */
/*
 * The reftable backend: refs and reflogs in stacks of tables. All work trees
 * share one stack below the common directory. Each linked work tree also has a
 * stack for its own refs. Parts of the backend: reading (refs-reftable.c), refs
 * and reflogs that keep objects alive (refs-reftable-kept.c), and functions for
 * all writers (refs-reftable-place.c). Transactions and packing are in
 * refs-write/.
 *
 * FETCH_HEAD and MERGE_HEAD are files, not records of tables.
 */
#ifndef REFS_REFS_REFTABLE_H
#define REFS_REFS_REFTABLE_H

#include "refs/refs-backend.h"
#include "reftable/append.h"

/*
 * Finds the stack of the ref `name`. Appends the stack's directory to *dir.
 * Returns the ref's name in that stack (a pointer into `name`), or NULL when
 * out of memory.
 */
const char *refs_reftable_place(struct buf *dir, const struct repo *repo,
				const char *name);

/* A stack that a snapshot of refs has opened. */
struct refs_reftable_store {
	char *dir; /* owned */
	/* points into `own` or `cached` */
	const struct reftable_stack *stack;
	struct reftable_stack own;
	/*
	 * the stack, if it comes from repo->refs_cache; NULL: the snapshot has
	 * opened the stack itself, into `own`
	 */
	const struct refs_cached *cached;
	struct reftable_iter it; /* for lookups by name */
	/* merged view of the stack for refs_reftable_find_below() */
	struct reftable_merged below;
	bool has_below;
};

/*
 * Sets *store to the stack of a ref. The stack is opened at its first use. Sets
 * *inner to the ref's name in that stack. The store is valid until
 * refs_close(). Returns 0 or a negative error code.
 */
int refs_reftable_store(struct refs *refs, const char *name,
			struct refs_reftable_store **store, const char **inner,
			struct error *err);

/*
 * Looks for a ref below the directory `dir` ("refs/x/"). Returns 1 with the
 * ref's name in *other, 0 if there is none, or a negative error code.
 */
int refs_reftable_find_below(struct refs *refs, const char *dir,
			     struct buf *other, struct error *err);

/*
 * Reads the settings for writing tables, including core.fsync. Returns 0,
 * ERR_INVALID for a bad value, or another negative error code.
 */
int refs_reftable_options(struct reftable_append_options *options,
			  const struct repo *repo, struct error *err);

/*
 * Implements refs_each_reflog_oid() for refs in reftables, with the same
 * return values.
 */
int refs_reftable_each_kept(const struct repo *repo,
			    int (*fn)(void *ctx, const struct oid *oid),
			    void *ctx, struct error *err);

/*
 * Sets the name, mail, time and zone of a reflog record from `committer` ("Name
 * <mail> seconds zone"). The strings are borrowed. Returns false if `committer`
 * is malformed.
 */
bool refs_reftable_take_committer(struct reftable_log *log,
				  const char *committer);

#endif
