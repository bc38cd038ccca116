/* SPDX-License-Identifier: MIT */
/*
 * Replaced objects (git-replace(1)): a read of one object returns another
 * object instead. Only commands that show objects and history call
 * refs_load_replaced(), which fills this table. Commands that pack, check or
 * remove objects leave it empty and see each object as it is stored.
 */
#ifndef ODB_REPLACED_H
#define ODB_REPLACED_H

#include "base/error.h"
#include "object/oid.h"
#include "object/oidmap.h"
#include "odb/odb.h"

struct odb_replaced {
	/*
	 * maps the id of a replaced object to an index in `by`; by[index] is
	 * the object that is read instead
	 */
	struct oidmap by_id;
	/* owned array of ids: the objects that are read instead */
	struct oid *by;
	size_t nr, alloc;
};

/*
 * Makes odb_read() and odb_info() return the object `by` when `oid` is wanted.
 * Call this before any reader of the snapshot is made. Returns 0 or ERR_NOMEM.
 */
int odb_replaced_add(struct odb *odb, const struct oid *oid,
		     const struct oid *by);

/*
 * Follows the chain of replacements that starts at *oid, and sets *oid to its
 * end, which is the id of the object to read. Returns 0, or ERR_CORRUPT
 * ("replace depth too high for object <id>") if the chain has more than five
 * replacements.
 */
int odb_replaced_follow(const struct odb_replaced *replaced,
			const struct oid **oid, enum hash_algo algo,
			struct error *err);

/* Frees a table of replacements. NULL is allowed. */
void odb_replaced_free(struct odb_replaced *replaced);

#endif
