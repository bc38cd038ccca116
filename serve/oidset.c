/* SPDX-License-Identifier: MIT */
/* Ordered sets of ids. */
#include <stdlib.h>

#include "base/mem.h"
#include "serve/oidset.h"

void oidset_init(struct oidset *set, size_t max)
{
	*set = (struct oidset){.map = OIDMAP_INIT, .max = max};
}

void oidset_release(struct oidset *set)
{
	oidmap_release(&set->map);
	free(set->oids);
	oidset_init(set, set->max);
}

int oidset_add(struct oidset *set, const struct oid *oid, struct error *err)
{
	int ret;

	if (oidset_has(set, oid))
		return 0;
	if (set->nr >= set->max)
		return error_set(err, ERR_PEER, "too many object ids");
	if (mem_grow(&set->oids, &set->alloc, set->nr + 1, sizeof(*oid)) < 0)
		return error_nomem(err);
	ret = oidmap_add(&set->map, oid, (uint32_t)set->nr, NULL);
	if (ret < 0)
		return error_nomem(err);
	set->oids[set->nr++] = *oid;
	return 1;
}

bool oidset_has(const struct oidset *set, const struct oid *oid)
{
	uint32_t ignored;

	return oidmap_get(&set->map, oid, &ignored);
}
