/* SPDX-License-Identifier: MIT */
/*
 * Objects that refs/replace/<id> puts others in the place of (git-replace(1)),
 * for commands that show objects and history. Who packs, checks or removes
 * objects sees them as they are.
 */
#ifndef ODB_REPLACED_H
#define ODB_REPLACED_H

#include "base/error.h"
#include "object/oid.h"
#include "object/oidmap.h"
#include "odb/odb.h"
#include "refs/refs.h"

struct odb_replaced {
	struct oidmap by_id; /* replaced ids, with their place in `by` */
	struct oid *by;      /* owned: what takes their place */
	size_t nr, alloc;
};

/*
 * From now on odb_read() and odb_info() give what takes an object's place,
 * where there are such refs. To be called before readers and walks are made.
 * Nothing is replaced with core.useReplaceRefs=false or GIT_NO_REPLACE_OBJECTS
 * in the environment; GIT_REPLACE_REF_BASE stands for "refs/replace/". A ref
 * whose name is no id is left out and described in *warning. 0, ERR_INVALID for
 * configuration, or another error of refs.
 */
int odb_replaced_load(struct odb *odb, struct refs *refs, struct error *warning,
		      struct error *err);

/*
 * What is to be read for *oid: it is set to that. 0; or ERR_CORRUPT ("replace
 * depth too high for object <id>"), when that is replaced in turn, too often.
 */
int odb_replaced_follow(const struct odb_replaced *replaced,
			const struct oid **oid, enum hash_algo algo,
			struct error *err);

/* NULL is accepted. */
void odb_replaced_free(struct odb_replaced *replaced);

#endif
