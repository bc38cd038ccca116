/* SPDX-License-Identifier: MIT */
/*
 * The objects of a new pack, and how each will be stored.
 *
 * `item` is an index into the list. The list is worked on in this order:
 * - enumeration appends objects;
 * - planning finds stored bytes to copy (plan.h);
 * - the delta search finds deltas for other items (delta-search.h);
 * - the items are ordered and written (write.h).
 */
#ifndef DELTAS_ITEMS_H
#define DELTAS_ITEMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "islands/islands.h"
#include "object/type.h"
#include "odb/odb.h"
#include "walk/walk.h"

#define PACKING_NO_ITEM UINT32_MAX

/* How the bytes of an object are put into the pack. */
enum packing_how {
	/* the object is inflated and deflated anew */
	PACKING_WHOLE,
	/* the object is stored whole, and copied as it is stored */
	PACKING_COPY,
	/*
	 * A stored delta of item `base`, copied as it is stored. If `base` is
	 * PACKING_NO_ITEM, the base is an object outside the list of items, and
	 * the delta names the base by its id.
	 */
	PACKING_COPY_DELTA,
	/* a delta of item `base` that was made for this pack */
	PACKING_DELTA,
	/*
	 * the object is copied from the file of kept deltas, where it is stored
	 * whole
	 */
	PACKING_KEPT,
};

/*
 * An object of a new pack, or an external delta base (`is_external`): an object
 * that only serves as a delta base, and is not written as an item. The receiver
 * has this object already, or the new pack gets it in a range of bytes that is
 * copied from an old pack. A delta names an external base by its id.
 */
struct packing_item {
	/*
	 * number of inflated bytes of the object; 0 until the item is planned
	 */
	uint64_t size;
	/* offset in the new pack; valid when the item was written */
	uint64_t out_off;
	/*
	 * Owned: the deflated delta of a PACKING_DELTA item. NULL: the delta is
	 * made again when the item is written.
	 */
	uint8_t *delta;
	uint32_t obj_pos;
	uint32_t name_hash;
	/* path hash of the object (object/path-group.h); 0: unknown */
	uint32_t path_hash;
	/* item number of the delta base, or PACKING_NO_ITEM */
	uint32_t base;
	/* CRC of the entry in the new pack; valid when the item was written */
	uint32_t crc;
	union {
		/* number of bytes at `delta` */
		uint32_t delta_len;
		/*
		 * if PACKING_KEPT: in the file of kept deltas, the number of
		 * the row with the whole copy of the object
		 */
		uint32_t kept_row;
	};
	/* number of bytes of the delta, before it is deflated */
	uint32_t delta_size;
	/*
	 * Index into odb->packs of the pack that the object is read from;
	 * PACKING_NO_ITEM: a loose object.
	 */
	uint32_t pack_nr;
	/* enum object_type of the object, also if it is stored as a delta */
	uint8_t type;
	uint8_t how; /* enum packing_how */
	bool is_external : 1;
	/* true: the item is no candidate of the delta search */
	bool no_delta : 1;
	/*
	 * true: the item is sent whole, as it is stored. It may be a delta
	 * base.
	 */
	bool settled : 1;
	/*
	 * true: the delta search may make the item a delta of an object that is
	 * stored in the same pack as the item. Usually such a pair is not
	 * tried, because the search that made the stored pack has tried it. Set
	 * for four kinds of items:
	 * - a stored delta whose base is not sent;
	 * - a stored delta at which a long delta chain was cut;
	 * - a stored delta that may not keep its stored base, because of
	 *   islands;
	 * - the object that is stored whole at the end of the delta chain of an
	 *   item of the third kind. Either of the two may become a delta of
	 *   the other.
	 */
	bool retry : 1;
};

struct packing_items {
	struct objspace *space; /* borrowed */
	/* Borrowed: the delta islands of the objects; NULL: no islands. */
	const struct islands *islands;
	struct packing_item *items; /* owned */
	size_t nr, alloc;
};

void packing_items_init(struct packing_items *list, struct objspace *space);
void packing_items_release(struct packing_items *list);

/*
 * Check that an object that was read is the object of this item. Returns 0, or
 * ERR_CORRUPT if the type or the id differs. Cost: hashing the bytes.
 */
int packing_items_check(const struct packing_items *list,
			const struct packing_item *item,
			const struct odb_object *obj, struct error *err);

/* Allocate room for exactly `nr` more items. Returns 0 or ERR_NOMEM. */
int packing_items_reserve(struct packing_items *list, size_t nr);

/*
 * Append an object to the list. The size of the object, and the way in which it
 * is stored, are planned later. Returns 0 or ERR_NOMEM.
 */
int packing_items_append(struct packing_items *list, uint32_t obj_pos,
			 enum object_type type, uint32_t name_hash,
			 bool is_external);

/*
 * Append an object that a walk has found to the list. Returns 0 or ERR_NOMEM.
 */
int packing_items_add(struct packing_items *list,
		      const struct walk_item *found);

#endif
