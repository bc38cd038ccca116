/* SPDX-License-Identifier: MIT */
/*
 * A set of object ids that keeps their order of arrival: the wants or haves of
 * a request. A peer fills the set, so the set has a maximum size. A peer cannot
 * make look-ups slow by choosing ids with equal prefixes, because the hash has
 * a random key (object/oidmap.h).
 */
#ifndef WIRE_OIDSET_H
#define WIRE_OIDSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "object/oidmap.h"

/*
 * Maximum number of ids that a request stores. Only ids of existing objects are
 * stored.
 */
#define OIDSET_MAX (UINT32_C(1) << 24)

struct oidset {
	/* owned, in order of arrival */
	struct oid *oids;
	size_t nr, alloc;
	/*
	 * owned hash table: a slot has the index of an id in `oids`, plus one;
	 * 0: the slot is free
	 */
	uint32_t *slots;
	size_t slot_nr; /* a power of two, or 0 */
	/* maximum number of ids in the set; below 2^32 */
	size_t max;
	struct oidhash hash; /* valid if slot_nr > 0 */
};

/* Make an empty set that holds at most `max` (below 2^32) ids. */
void oidset_init(struct oidset *set, size_t max);
void oidset_release(struct oidset *set);

/*
 * Add an id. Returns 1 if the id is new, 0 if the set already has it,
 * ERR_NOMEM, or ERR_PEER if the set is full.
 */
int oidset_add(struct oidset *set, const struct oid *oid, struct error *err);

/* Returns whether the set has an id. */
bool oidset_has(const struct oidset *set, const struct oid *oid);

#endif
