/* SPDX-License-Identifier: MIT */
/*
 * Whether a table is as its format has it, which readers take on trust where
 * it costs them something: all blocks, one behind the other, of sections in
 * their order; keys that ascend; restarts that begin records; indexes that
 * name the last key of each block; blocks of refs that name an object.
 */
#ifndef REFTABLE_VERIFY_H
#define REFTABLE_VERIFY_H

#include "reftable/table.h"

/* The first and the last name of some refs; both empty: there are none. */
struct reftable_names {
	struct buf first, last;
};

#define REFTABLE_NAMES_INIT                                                    \
	{                                                                      \
		BUF_INIT, BUF_INIT                                             \
	}

void reftable_names_release(struct reftable_names *names);

/*
 * Read all of a table: 0; ERR_CORRUPT with what is wrong; ERR_NOMEM. *symbolic,
 * if not NULL, comes to include its symbolic refs. Linear in its size, with
 * memory for the last keys of its blocks.
 */
int reftable_verify(const struct reftable *table,
		    struct reftable_names *symbolic, struct error *err);

#endif
