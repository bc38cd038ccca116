/* SPDX-License-Identifier: MIT */
/*
 * The reftable backend: refs and reflogs in stacks of tables, one that all
 * work trees share below the common directory, and one for each linked work
 * tree with the refs of its own. What its parts share: reading
 * (refs-reftable.c), transactions (refs-reftable-tx.c, -stage.c), what reflogs
 * keep and packing (refs-reftable-kept.c).
 *
 * FETCH_HEAD and MERGE_HEAD are no refs but files, here as well.
 */
#ifndef REFS_REFS_REFTABLE_H
#define REFS_REFS_REFTABLE_H

#include "refs/ref-pack.h"
#include "refs/refs-backend.h"
#include "reftable/append.h"

/*
 * Where a ref is: *dir gets the directory of its stack, and the name that it
 * has there is returned, which points into `name`. NULL when out of memory.
 */
const char *refs_reftable_place(struct buf *dir, const struct repo *repo,
				const char *name);

/* The stack of the work tree, of the shared refs, as the snapshot has it. */
struct refs_reftable_store {
	char *dir; /* owned */
	struct reftable_stack stack;
	struct reftable_iter it;      /* for lookups */
	struct reftable_merged below; /* for names below others */
	bool has_below;
};

/*
 * The store of a ref, opened when it was not yet; *inner is its name there.
 * It lives until refs_close(). 0 or a negative error.
 */
int refs_reftable_store(struct refs *refs, const char *name,
			struct refs_reftable_store **store, const char **inner,
			struct error *err);

/*
 * Whether there is a ref below directory `dir` ("refs/x/"): 1 with its name in
 * *other, 0, or negative.
 */
int refs_reftable_find_below(struct refs *refs, const char *dir,
			     struct buf *other, struct error *err);

/* What the configuration says about writing tables, and core.fsync. */
int refs_reftable_options(struct reftable_append_options *options,
			  const struct repo *repo, struct error *err);

int refs_reftable_pack_is_due(const struct repo *repo,
			      const struct ref_pack_options *options,
			      struct error *err);
int refs_reftable_pack(const struct repo *repo,
		       const struct ref_pack_options *options,
		       struct error *err);
int refs_reftable_each_kept(const struct repo *repo,
			    int (*fn)(void *ctx, const struct oid *oid),
			    void *ctx, struct error *err);

/* Set the parts of a log that come from "Name <mail> seconds zone". */
bool refs_reftable_take_committer(struct reftable_log *log,
				  const char *committer);

#endif
