/* SPDX-License-Identifier: MIT */
/*
 * A table in struct odb that says which objects are replaced, and by which
 * (git-replace(1)).
 */
#include <stdlib.h>

#include "base/mem.h"
#include "odb/replaced.h"

#define DEPTH_MAX 5

static struct odb_replaced *make(struct odb *odb)
{
	if (!odb->replaced)
		odb->replaced = mem_calloc(1, sizeof(*odb->replaced));
	return odb->replaced;
}

int odb_replaced_add(struct odb *odb, const struct oid *oid,
		     const struct oid *by)
{
	struct odb_replaced *r = make(odb);

	if (!r || mem_grow(&r->by, &r->alloc, r->nr + 1, sizeof(*r->by)) < 0 ||
	    oidmap_put(&r->by_id, oid, (uint32_t)r->nr) < 0)
		return ERR_NOMEM;
	r->by[r->nr++] = *by;
	return 0;
}

int odb_replaced_follow(const struct odb_replaced *replaced,
			const struct oid **oid, enum hash_algo algo,
			struct error *err)
{
	const struct oid *first = *oid;
	char hex[OID_MAX_HEX_LEN + 1];
	uint32_t at;

	for (int depth = 0; oidmap_get(&replaced->by_id, *oid, &at); depth++) {
		if (depth == DEPTH_MAX)
			return error_set(err, ERR_CORRUPT,
					 "replace depth too high for object %s",
					 oid_to_hex(hex, first, algo));
		*oid = &replaced->by[at];
	}
	return 0;
}

void odb_replaced_free(struct odb_replaced *replaced)
{
	if (!replaced)
		return;
	oidmap_release(&replaced->by_id);
	free(replaced->by);
	free(replaced);
}
