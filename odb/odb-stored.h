/* SPDX-License-Identifier: MIT */
/*
 * How an object is stored: for %(objectsize:disk), %(deltabase), and the space
 * that sets of objects take. Threads may ask together.
 */
#ifndef ODB_ODB_STORED_H
#define ODB_ODB_STORED_H

#include "odb/odb.h"

struct odb_stored {
	uint64_t len;    /* bytes in the pack, or of the loose file */
	struct oid base; /* what it is a delta against; zero: nothing */
};

/* Look the canonical copy up. 0, ERR_MISSING or another error. */
int odb_stored_get(struct odb_stored *stored, const struct odb *odb,
		   const struct oid *oid, struct error *err);

/* Only its length. */
int odb_stored_len(uint64_t *len, const struct odb *odb, const struct oid *oid,
		   struct error *err);

#endif
