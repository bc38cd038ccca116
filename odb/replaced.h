/* SPDX-License-Identifier: MIT */
/*
 * Replaced objects (git-replace(1)): where an object is asked for, another is
 * read in its place. Only commands that show objects and history fill this
 * table, with refs_load_replaced(). Commands that pack, check or remove objects
 * leave it empty and see each object as it is stored.
 */
#ifndef ODB_REPLACED_H
#define ODB_REPLACED_H

#include "base/error.h"
#include "object/oid.h"
#include "object/oidmap.h"
#include "odb/odb.h"

struct odb_replaced {
	struct oidmap by_id; /* replaced id to its index in `by` */
	struct oid *by;      /* owned: the object read in its place */
	size_t nr, alloc;
};

/*
 * Let odb_read() and odb_info() give object `by` where `oid` is asked for. To
 * be called before readers of the snapshot are made. Returns 0 or ERR_NOMEM.
 */
int odb_replaced_add(struct odb *odb, const struct oid *oid,
		     const struct oid *by);

/*
 * Set *oid to the object to read in its place: the last of a chain of
 * replacements. Returns 0, or ERR_CORRUPT ("replace depth too high for object
 * <id>") for a chain of more than five.
 */
int odb_replaced_follow(const struct odb_replaced *replaced,
			const struct oid **oid, enum hash_algo algo,
			struct error *err);

/* NULL is accepted. */
void odb_replaced_free(struct odb_replaced *replaced);

#endif
