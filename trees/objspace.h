/* SPDX-License-Identifier: MIT */
/*
 * Gives an integer, `obj_pos`, to each object that a walk meets.
 *
 * The obj_pos of a packed object is its position in the object database
 * (odb_pos). Loose and missing objects get numbers from packed_nr upwards when
 * they are first met. An id is looked up once, when it is read. From then on,
 * the walk handles integers, and sets are bitmaps.
 *
 * Threads may share a space: look-ups of packed objects take no lock.
 */
#ifndef TREES_OBJSPACE_H
#define TREES_OBJSPACE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "object/oid.h"
#include "object/oidmap.h"
#include "odb/odb-table.h"
#include "odb/odb.h"
#include "pack/ids.h"

struct objspace {
	const struct odb *odb; /* borrowed */
	/*
	 * If the repository replaces no objects (git-replace(1)), packed
	 * objects have the numbers below packed_nr, and other objects have
	 * higher numbers.
	 *
	 * If the repository replaces objects, packed_nr is 0. Then all objects,
	 * packed ones too, are numbered in the order in which they are met, and
	 * are read by id.
	 */
	uint32_t packed_nr;
	/*
	 * owned: one look-up table of ids for each pack or multi-pack-index of
	 * the odb; NULL: there are no such tables
	 */
	struct pack_idx_table *tables;
	/*
	 * one look-up table of ids for all packs together; made in place of
	 * `tables` if there are many packs
	 */
	struct odb_table table;
	/* guards `extra`, `extra_oids` and their sizes */
	pthread_mutex_t lock;
	/* maps the id of an object outside packs to its index in extra_oids */
	struct oidmap extra;
	struct oid *extra_oids; /* owned */
	size_t extra_nr, extra_alloc;
};

void objspace_init(struct objspace *space, const struct odb *odb);
void objspace_release(struct objspace *space);

/*
 * Makes look-ups of packed objects faster, at the cost of one pass over the ids
 * of all packs. Useful if more than a sixteenth of the objects will be looked
 * up. No other thread may use the space during the call. If memory runs out,
 * look-ups work as before.
 */
void objspace_accelerate(struct objspace *space);

/*
 * Prefetches the look-up table entries of some ids (a few tens) that are looked
 * up next, so that the waits for memory overlap. Does nothing unless
 * objspace_accelerate() has made a table for each pack.
 */
void objspace_prefetch(const struct objspace *space, const uint8_t *const *raws,
		       size_t nr);

/*
 * Sets *obj_pos to the number of an object. An object that has no number yet
 * gets a new one. Returns 0 or ERR_NOMEM.
 */
int objspace_add(struct objspace *space, const uint8_t *raw, uint32_t *obj_pos);

/*
 * Sets *obj_pos to the number of an object. Returns false if the object has no
 * number.
 */
bool objspace_find(struct objspace *space, const uint8_t *raw,
		   uint32_t *obj_pos);

/*
 * Sets *obj_pos to the number of a packed object; returns false if the object
 * is in no pack.
 */
bool objspace_find_packed(const struct objspace *space, const uint8_t *raw,
			  uint32_t *obj_pos);

/* Returns one more than the largest obj_pos that was given to an object. */
uint32_t objspace_end(struct objspace *space);

/* Sets *out to the id of an object. */
void objspace_oid(struct oid *out, struct objspace *space, uint32_t obj_pos);

/*
 * Returns a pointer to the id of an object. The pointer is valid until an
 * object without a number gets one, because the array of ids may then move. No
 * other thread may use the space while the caller uses the pointer.
 */
const uint8_t *objspace_raw(const struct objspace *space, uint32_t obj_pos);

/* Returns whether an object is in a pack of the snapshot. */
bool objspace_is_packed(struct objspace *space, uint32_t obj_pos);

/*
 * Reads an object by obj_pos, like odb_read(). If the copy at this obj_pos is
 * damaged, tries other copies of the object. Returns 0 or a negative error
 * code.
 */
int objspace_read(struct objspace *space, struct odb_reader *reader,
		  uint32_t obj_pos, struct odb_object *obj, struct error *err);

/*
 * Reads a tree by obj_pos, like objspace_read(). Returns ERR_CORRUPT with *obj
 * zeroed if the object is no tree.
 */
int objspace_read_tree(struct objspace *space, struct odb_reader *reader,
		       uint32_t tree_pos, struct odb_object *obj,
		       struct error *err);

/* Sets the error "<what>: <id of the object>". Returns `code`. */
int objspace_error(struct objspace *space, uint32_t obj_pos,
		   enum error_code code, const char *what, struct error *err);

/*
 * Sets the error "object <id> is a <actual>, not a <expected>". Returns
 * ERR_CORRUPT.
 */
int objspace_mistyped(struct objspace *space, uint32_t obj_pos,
		      enum object_type actual, enum object_type expected,
		      struct error *err);

/*
 * Finds type and size of an object by obj_pos, like odb_info(). Returns 0 or a
 * negative error code.
 */
int objspace_info(struct objspace *space, struct odb_reader *reader,
		  uint32_t obj_pos, enum object_type *type, uint64_t *size,
		  struct error *err);

#endif
