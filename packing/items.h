/* SPDX-License-Identifier: MIT */
/*
 * The objects of a new pack, and how each will be stored.
 *
 * `item` is an index into the list. The list passes these steps: enumeration
 * fills it; planning finds stored bytes to copy (plan.h); the delta search
 * finds deltas for the rest (delta-search.h); the items are ordered and written
 * (write.h).
 */
#ifndef PACKING_ITEMS_H
#define PACKING_ITEMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "islands/islands.h"
#include "object/type.h"
#include "odb/odb.h"
#include "walk/walk.h"

#define PACKING_NO_ITEM UINT32_MAX

/* How an object gets into the pack. */
enum packing_how {
	/* Inflated from its stored form and deflated anew. */
	PACKING_WHOLE,
	/* stored whole; copied as stored */
	PACKING_COPY,
	/*
	 * A delta of item `base`, copied as stored. Without base item: a delta
	 * of an object that is no item, named by its id.
	 */
	PACKING_COPY_DELTA,
	/* a new delta of item `base` */
	PACKING_DELTA,
};

/*
 * An object. An item with `is_external` is not written: the receiver has the
 * object, and a thin pack may use it as delta base (by id).
 */
struct packing_item {
	/* inflated bytes; 0 until planned */
	uint64_t size;
	/* offset in the new pack, once written */
	uint64_t out_off;
	/*
	 * Owned, for PACKING_DELTA: the deflated delta. NULL: the delta is made
	 * again when it is written.
	 */
	uint8_t *delta;
	uint32_t obj_pos;
	uint32_t name_hash;
	/* path hash, as the search's options say */
	uint32_t group;
	uint32_t base; /* item, or PACKING_NO_ITEM */
	/* of the entry in the new pack, once written */
	uint32_t crc;
	uint32_t delta_len; /* bytes at `delta` */
	/* inflated bytes of the delta */
	uint32_t delta_size;
	/*
	 * Index into odb->packs of the copy to read; PACKING_NO_ITEM for loose
	 * objects.
	 */
	uint32_t pack_nr;
	/* enum object_type of the object itself */
	uint8_t type;
	uint8_t how; /* enum packing_how */
	bool is_external : 1;
	/* not a candidate of the delta search */
	bool no_delta : 1;
	/* stays whole as it is stored; may be a base */
	bool settled : 1;
	/*
	 * May become a delta of an object in its own pack: its stored base is
	 * not allowed or not sent, or the item is at the end of such a base's
	 * chain.
	 */
	bool retry : 1;
};

struct packing_items {
	struct objspace *space; /* borrowed */
	/* Borrowed; NULL: islands forbid no base. */
	const struct islands *islands;
	struct packing_item *items; /* owned */
	size_t nr, alloc;
};

void packing_items_init(struct packing_items *list, struct objspace *space);
void packing_items_release(struct packing_items *list);

/*
 * Check that the bytes read are the object of this item. Returns 0, or
 * ERR_CORRUPT if type or id differs. Cost: a hash of the bytes.
 */
int packing_items_check(const struct packing_items *list,
			const struct packing_item *item,
			const struct odb_object *obj, struct error *err);

/*
 * Check that the bytes read have this id. Returns 0 or ERR_CORRUPT. Cost: a
 * hash of the bytes.
 */
int packing_check_id(enum hash_algo algo, const struct oid *oid,
		     const struct odb_object *obj, struct error *err);

/* Allocate room for exactly `nr` more items. Returns 0 or ERR_NOMEM. */
int packing_items_reserve(struct packing_items *list, size_t nr);

/*
 * Append an object. Returns 0 or ERR_NOMEM. Its size and storage are planned
 * later.
 */
int packing_items_append(struct packing_items *list, uint32_t obj_pos,
			 enum object_type type, uint32_t name_hash,
			 bool is_external);

/* Append an object found by a walk, to be written. Returns 0 or ERR_NOMEM. */
int packing_items_add(struct packing_items *list,
		      const struct walk_item *found);

#endif
