/* SPDX-License-Identifier: MIT */
/*
 * How an object is stored. This serves %(objectsize:disk), %(deltabase), and
 * the disk usage of sets of objects. Thread-safe.
 */
#ifndef ODB_ODB_STORED_H
#define ODB_ODB_STORED_H

#include "odb/odb.h"

struct odb_stored {
	/* bytes in the pack, or of the loose file */
	uint64_t len;
	/* the delta base; zero: not a delta */
	struct oid base;
};

/* Looks up the canonical copy. Returns 0, ERR_MISSING or another error code. */
int odb_stored_get(struct odb_stored *stored, const struct odb *odb,
		   const struct oid *oid, struct error *err);

/*
 * Returns the same as odb_stored_get(), but finds only the length of the stored
 * bytes.
 */
int odb_stored_len(uint64_t *len, const struct odb *odb, const struct oid *oid,
		   struct error *err);

#endif
