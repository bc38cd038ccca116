/* SPDX-License-Identifier: MIT */
/*
 * A stack of tables: a directory with a file tables.list that names them, one
 * a line, oldest first. Tables do not change; the list is replaced.
 *
 * An opened stack is a snapshot: its tables are mapped, and stay whatever
 * becomes of their files. Immutable; threads may share it.
 */
#ifndef REFTABLE_STACK_H
#define REFTABLE_STACK_H

#include "reftable/merged.h"

struct reftable_stack {
	struct reftable **tables; /* owned, and each; oldest first */
	size_t nr, alloc;
};

/*
 * Open the stack in `dir`; without a list it is empty. Where a table of the
 * list is gone the list is read again, as it has been replaced. 0, or with
 * *stack zeroed ERR_CORRUPT, ERR_IO, ERR_NOMEM.
 */
int reftable_stack_open(struct reftable_stack *stack, const char *dir,
			enum hash_algo algo, struct error *err);
void reftable_stack_release(struct reftable_stack *stack);

/* The largest update index of the tables; 0 when there are none. */
uint64_t reftable_stack_max_index(const struct reftable_stack *stack);

/*
 * Look for a ref, from the newest table on: 1 with *ref set, which lives as
 * long as *it stands there; 0, also when it is deleted; ERR_CORRUPT, ERR_NOMEM.
 */
int reftable_stack_find(const struct reftable_stack *stack,
			struct reftable_iter *it, const char *name,
			size_t name_len, struct reftable_ref *ref,
			struct error *err);

#endif
