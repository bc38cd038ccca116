/* SPDX-License-Identifier: MIT */
/*
 * Verifies a whole table, including the parts of the format that readers do not
 * check because of the cost. Verified are: all blocks, without gaps, and the
 * order of sections; ascending keys; restarts that begin records; indexes with
 * the last key of each block; the blocks of refs that o-blocks list for an
 * object.
 */
#ifndef REFTABLE_VERIFY_H
#define REFTABLE_VERIFY_H

#include "reftable/table.h"

/*
 * The first and the last name of a set of refs. Both are empty if there are no
 * refs.
 */
struct reftable_names {
	struct buf first, last;
};

#define REFTABLE_NAMES_INIT                                                    \
	{                                                                      \
		BUF_INIT, BUF_INIT                                             \
	}

void reftable_names_release(struct reftable_names *names);

/*
 * Reads a whole table. Returns 0, ERR_CORRUPT with a message, or ERR_NOMEM. If
 * `symbolic` is not NULL, its range is extended to the table's symbolic refs.
 * Takes linear time, and memory for the last key of each block.
 */
int reftable_verify(const struct reftable *table,
		    struct reftable_names *symbolic, struct error *err);

#endif
