/* SPDX-License-Identifier: MIT */
/*
 * Finds how an object is stored, for the formats %(objectsize:disk) and
 * %(deltabase), and for the disk usage of sets of objects. Thread-safe.
 */
#ifndef ODB_ODB_STORED_H
#define ODB_ODB_STORED_H

#include "odb/odb.h"

struct odb_stored {
	/* number of bytes of the entry in the pack, or of the loose file */
	uint64_t len;
	/* id of the delta base; all zeros if the object is not a delta */
	struct oid base;
};

/*
 * Looks up how an object is stored. If there are several copies, describes the
 * copy that a read uses first. Returns 0, ERR_MISSING or another error code.
 */
int odb_stored_get(struct odb_stored *stored, const struct odb *odb,
		   const struct oid *oid, struct error *err);

/*
 * Sets *len to stored->len of odb_stored_get(), without a look-up of the delta
 * base. Returns 0, ERR_MISSING or another error code.
 */
int odb_stored_len(uint64_t *len, const struct odb *odb, const struct oid *oid,
		   struct error *err);

/*
 * Returns whether an object has an empty file in place of a loose object. A
 * commit with such a file counts as missing, as in stock Git.
 */
bool odb_stored_is_empty(const struct odb *odb, const struct oid *oid);

#endif
