/* SPDX-License-Identifier: MIT */
/*
 * A stack of tables: a directory with a file tables.list. The list contains the
 * names of the tables, one a line, oldest first. Tables never change; the list
 * is replaced.
 *
 * An opened stack is a snapshot: its tables are mapped, and stay valid if their
 * files are removed. It is immutable; threads may share it.
 */
#ifndef REFTABLE_STACK_H
#define REFTABLE_STACK_H

#include "reftable/merged.h"

struct reftable_stack {
	/* owned, with the tables; oldest first */
	struct reftable **tables;
	size_t nr, alloc;
};

/*
 * Opens the stack in `dir`. Without a list the stack is empty. If a listed
 * table is missing, the list has been replaced and is read again. Returns 0, or
 * ERR_CORRUPT, ERR_IO or ERR_NOMEM with *stack zeroed.
 */
int reftable_stack_open(struct reftable_stack *stack, const char *dir,
			enum hash_algo algo, struct error *err);
void reftable_stack_release(struct reftable_stack *stack);

/* Returns the largest update index of the tables, or 0 if there are none. */
uint64_t reftable_stack_max_index(const struct reftable_stack *stack);

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
