/* SPDX-License-Identifier: MIT */
/*
 * A set of object ids that remembers the order in which they came: the wants
 * and haves of a request. It has a maximum, because a peer fills it; ids that
 * were chosen to begin alike cost no more than others (oidhash.h).
 */
#ifndef WIRE_OIDSET_H
#define WIRE_OIDSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "object/oidhash.h"

/* Ids a request may name; only those of existing objects are ever kept. */
#define OIDSET_MAX (UINT32_C(1) << 24)

struct oidset {
	struct oid *oids; /* owned, in order of arrival */
	size_t nr, alloc;
	uint32_t *slots;     /* owned: places in oids, from 1; 0: free */
	size_t slot_nr;      /* a power of two, or 0 */
	size_t max;          /* most ids it takes; below 2^32 */
	struct oidhash hash; /* set when there are slots */
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
