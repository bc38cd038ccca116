/* SPDX-License-Identifier: MIT */
/*
 * The objects of a pack that is being made, and how each will be stored.
 *
 * `item` is an index into the list. The list is filled by the enumeration,
 * then planned (plan.h: what can be copied from existing packs), searched
 * (delta-search.h: deltas for what cannot), ordered and written (write.h).
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
	PACKING_WHOLE,      /* inflated from where it is and deflated anew */
	PACKING_COPY,       /* not a delta: copied as stored */
	PACKING_COPY_DELTA, /* a delta against item `base`, copied as stored;
			      or, without base item, against an object that is
			      no item, named by its id */
	PACKING_DELTA,      /* a delta against item `base`, found by search */
};

/*
 * An object. Items with `is_external` are not written: the receiver has them
 * already and a thin pack may use them as delta bases (by id).
 */
struct packing_item {
	uint64_t size;    /* inflated bytes; 0 until planned */
	uint64_t out_off; /* offset in the new pack, once written */
	uint8_t *delta;   /* PACKING_DELTA: owned deflated delta; NULL when
			     it is to be made again on writing */
	uint32_t obj_pos;
	uint32_t name_hash;
	uint32_t group;      /* of its path, as the search's options say */
	uint32_t base;       /* item, or PACKING_NO_ITEM */
	uint32_t crc;        /* of the entry in the new pack, once written */
	uint32_t delta_len;  /* bytes at `delta` */
	uint32_t delta_size; /* inflated bytes of the delta */
	uint32_t pack_nr;    /* index into odb->packs of the copy to read;
				PACKING_NO_ITEM for loose objects */
	uint8_t type;        /* enum object_type of the object itself */
	uint8_t how;         /* enum packing_how */
	bool is_external : 1;
	bool no_delta : 1; /* no part of the search for deltas */
	bool settled : 1;  /* stays as it is stored, whole: a base at most */
	bool retry : 1;    /* may get a base from its own pack: what that has
			      as base is not allowed or not sent, or it is such
			      a base */
};

struct packing_items {
	struct objspace *space;        /* borrowed */
	const struct islands *islands; /* borrowed; NULL: any base will do */
	struct packing_item *items;    /* owned */
	size_t nr, alloc;
};

void packing_items_init(struct packing_items *list, struct objspace *space);
void packing_items_release(struct packing_items *list);

/*
 * Whether what was read is the object of this item: 0, or ERR_CORRUPT when its
 * type or id is another. Costs a hash of its bytes.
 */
int packing_items_check(const struct packing_items *list,
			const struct packing_item *item,
			const struct odb_object *obj, struct error *err);

/*
 * Whether the bytes that were read have that id: 0 or ERR_CORRUPT. Costs a
 * hash of them.
 */
int packing_check_id(enum hash_algo algo, const struct oid *oid,
		     const struct odb_object *obj, struct error *err);

/* Make room for `nr` more, and no more than that: 0 or ERR_NOMEM. */
int packing_items_reserve(struct packing_items *list, size_t nr);

/* Append an object; 0 or ERR_NOMEM. Its size and storage are planned later. */
int packing_items_append(struct packing_items *list, uint32_t obj_pos,
			 enum object_type type, uint32_t name_hash,
			 bool is_external);

/* The same for what a walk has found, to be written. */
int packing_items_add(struct packing_items *list,
		      const struct walk_item *found);

#endif
