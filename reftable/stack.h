/* SPDX-License-Identifier: MIT */
/*
 * A stack of tables: a directory with a file tables.list. The list contains the
 * names of the tables, one a line, oldest first. Tables never change; the list
 * is replaced.
 *
 * An opened stack is a snapshot: its tables are mapped, and stay valid if their
 * files are removed. The snapshot is immutable; threads may share it.
 */
#ifndef REFTABLE_STACK_H
#define REFTABLE_STACK_H

#include "reftable/table.h"

/*
 * Iterates over several tables as if they were one. If several tables have a
 * record with the same key, only the record of the newest table is returned. A
 * deletion in the newest table hides the older records with its key.
 *
 * The iterators of the tables are sorted by their next keys. A step moves one
 * iterator to its new place in this order. This takes one comparison if most
 * records are in one table.
 */

/* A table that takes part in the merge. */
struct reftable_source {
	struct reftable_iter it;
	size_t age; /* 0: the oldest table */
};

struct reftable_merged {
	struct reftable_source *sources; /* owned */
	/*
	 * owned array of the sources that have a next record, sorted by the
	 * keys of these records in descending order. For equal keys, the newest
	 * table is last. The record of the last source is returned next.
	 */
	struct reftable_source **waiting;
	size_t source_nr, waiting_nr;
	/*
	 * the source whose record was returned last; it is not in `waiting`,
	 * and its next record is read at the next step; NULL: none
	 */
	struct reftable_source *given;
	bool keeps_deletions;
};

/*
 * Starts a merge of `nr` tables, oldest first. The array and the tables are
 * borrowed. If `keeps_deletions`, deletions are returned too, since they may
 * hide records of still older tables. Returns 0 or ERR_NOMEM.
 */
int reftable_merged_init(struct reftable_merged *m,
			 struct reftable *const *tables, size_t nr,
			 bool keeps_deletions, struct error *err);
void reftable_merged_release(struct reftable_merged *m);

/*
 * Moves the merged iteration before the first record of `type` whose key is not
 * less than `key`. Returns 0, ERR_CORRUPT or ERR_NOMEM.
 */
int reftable_merged_seek(struct reftable_merged *m,
			 enum reftable_block_type type, const char *key,
			 size_t key_len, struct error *err);

/*
 * Takes the next record of the merged iteration. Returns 1 with *it set to the
 * iterator that has the record, 0 at the end, ERR_CORRUPT or ERR_NOMEM. The
 * record is valid until the next call.
 */
int reftable_merged_next(struct reftable_merged *m,
			 const struct reftable_iter **it, struct error *err);

struct reftable_stack {
	/* owned: the array and the tables in it; oldest first */
	struct reftable **tables;
	size_t nr, alloc;
};

/*
 * Opens the stack in `dir`. If there is no file tables.list, the stack is
 * empty. If a listed table is missing, another process has replaced the list,
 * and the list is read again. Returns 0, ERR_CORRUPT, ERR_IO or ERR_NOMEM.
 * After an error, *stack is zeroed.
 */
int reftable_stack_open(struct reftable_stack *stack, const char *dir,
			enum hash_algo algo, struct error *err);
void reftable_stack_release(struct reftable_stack *stack);

/*
 * Returns the largest update index in the stack, or 0 if the stack has no
 * tables.
 */
uint64_t reftable_stack_max_index(const struct reftable_stack *stack);

/*
 * Sets *max_index to the largest update index of the valid tables in `dir` that
 * are not in the stack, or to 0 if there are no such tables. Reads the
 * directory and opens these tables. Returns 0, ERR_IO or ERR_NOMEM.
 */
int reftable_unlisted_max_index(uint64_t *max_index,
				const struct reftable_stack *stack,
				const char *dir, enum hash_algo algo,
				struct error *err);

/*
 * Finds a ref in the newest table that has it. Returns 1 with *ref set, 0 if
 * there is no such ref or it is deleted, ERR_CORRUPT or ERR_NOMEM. *ref is
 * valid until *it moves.
 */
int reftable_stack_find(const struct reftable_stack *stack,
			struct reftable_iter *it, const char *name,
			size_t name_len, struct reftable_ref *ref,
			struct error *err);

#endif
