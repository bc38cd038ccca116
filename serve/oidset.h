/* SPDX-License-Identifier: MIT */
/*
 * A set of object ids that remembers the order in which they came: the wants
 * and haves of a request. It has a maximum, because a peer fills it.
 */
#ifndef SERVE_OIDSET_H
#define SERVE_OIDSET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "object/oid.h"
#include "object/oidmap.h"

/* Ids a request may name; only those of existing objects are ever kept. */
#define OIDSET_MAX (UINT32_C(1) << 24)

struct oidset {
	struct oidmap map; /* id -> index into oids */
	struct oid *oids;  /* owned, in order of arrival */
	size_t nr, alloc;
	size_t max; /* most ids it takes */
};

void oidset_init(struct oidset *set, size_t max);
void oidset_release(struct oidset *set);

/*
 * Add an id. Returns 1 when it is new, 0 when it was there, ERR_NOMEM, or
 * ERR_PEER when the set is full.
 */
int oidset_add(struct oidset *set, const struct oid *oid, struct error *err);

bool oidset_has(const struct oidset *set, const struct oid *oid);

#endif
