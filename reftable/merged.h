/* SPDX-License-Identifier: MIT */
/*
 * Several tables as one: of records with the same key that of the newest
 * table counts, and a deletion there hides them all.
 *
 * The tables' iterators stand in order of their next keys; one step compares
 * as much as one record moves in that order, which is once where most records
 * are in one table.
 */
#ifndef REFTABLE_MERGED_H
#define REFTABLE_MERGED_H

#include "reftable/table.h"

/* A table's part in it. */
struct reftable_source {
	struct reftable_iter it;
	size_t age; /* 0: the oldest table */
};

struct reftable_merged {
	struct reftable_source *sources;  /* owned */
	struct reftable_source **waiting; /* owned array, by key then age */
	size_t source_nr, waiting_nr;
	struct reftable_source *given; /* has the record given last, or NULL */
	bool keeps_deletions;
};

/*
 * Take `nr` tables, oldest first; both are borrowed. `keeps_deletions`: they
 * are given as well, for what is older still. 0 or ERR_NOMEM.
 */
int reftable_merged_init(struct reftable_merged *m,
			 struct reftable *const *tables, size_t nr,
			 bool keeps_deletions, struct error *err);
void reftable_merged_release(struct reftable_merged *m);

/* As reftable_iter_seek(). */
int reftable_merged_seek(struct reftable_merged *m,
			 enum reftable_block_type type, const char *key,
			 size_t key_len, struct error *err);

/*
 * The next record: 1 with the iterator that stands on it, 0 at the end, or
 * ERR_CORRUPT, ERR_NOMEM. It lives until the next call.
 */
int reftable_merged_next(struct reftable_merged *m,
			 const struct reftable_iter **it, struct error *err);

#endif
