/* SPDX-License-Identifier: MIT */
/*
 * Numbers for all objects a walk meets.
 *
 * `obj_pos` is the odb_pos of a packed object; other objects (loose, or not
 * there at all) get numbers from packed_nr upwards when they are first met.
 * An id is looked up once, where it is read; everything after that works on
 * numbers, sets on bits.
 *
 * Threads may share one: packed look-ups take no lock.
 */
#ifndef WALK_OBJSPACE_H
#define WALK_OBJSPACE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "object/oid.h"
#include "object/oidmap.h"
#include "odb/odb-table.h"
#include "odb/odb.h"
#include "pack/idx-table.h"

struct objspace {
	const struct odb *odb; /* borrowed */
	uint32_t packed_nr;    /* first number of objects outside packs; 0
				  where some are replaced: none has its place
				  for a number then, and each is read by id */
	struct pack_idx_table *tables; /* owned: by source of the odb; NULL:
					  none yet */
	struct odb_table table;        /* instead of these, over many sources */
	pthread_mutex_t lock;          /* guards what follows */
	struct oidmap extra;           /* id -> index into extra_oids */
	struct oid *extra_oids;        /* owned */
	size_t extra_nr, extra_alloc;
};

void objspace_init(struct objspace *space, const struct odb *odb);
void objspace_release(struct objspace *space);

/*
 * Make look-ups of packed objects faster, at the cost of one pass over all
 * sources' ids: worth it for more look-ups than a sixteenth of the objects.
 * Not while threads share the space. Out of memory, nothing changes.
 */
void objspace_accelerate(struct objspace *space);

/*
 * To be called before some tens of look-ups, for speed: with the tables of
 * objspace_accelerate(), they then wait for memory all at once.
 */
void objspace_prefetch(const struct objspace *space, const uint8_t *const *raws,
		       size_t nr);

/* The number of an object, a new one if needed. 0 or ERR_NOMEM. */
int objspace_add(struct objspace *space, const uint8_t *raw, uint32_t *obj_pos);

/* The number of an object that has one; false otherwise. */
bool objspace_find(struct objspace *space, const uint8_t *raw,
		   uint32_t *obj_pos);

/* The number of a packed object; false otherwise. */
bool objspace_find_packed(const struct objspace *space, const uint8_t *raw,
			  uint32_t *obj_pos);

/* One past the largest number given out. */
uint32_t objspace_end(struct objspace *space);

/* The id of a number. */
void objspace_oid(struct oid *out, struct objspace *space, uint32_t obj_pos);

/*
 * The same where it is stored: valid until a number is given out. Not while
 * threads share the space.
 */
const uint8_t *objspace_raw(const struct objspace *space, uint32_t obj_pos);

/* Whether it is in a pack of the snapshot. */
bool objspace_is_packed(struct objspace *space, uint32_t obj_pos);

/* Read an object by number. As odb_read(), other copies included. */
int objspace_read(struct objspace *space, struct odb_reader *reader,
		  uint32_t obj_pos, struct odb_object *obj, struct error *err);

/* As objspace_read(), and ERR_CORRUPT when it is no tree, with *obj zeroed. */
int objspace_read_tree(struct objspace *space, struct odb_reader *reader,
		       uint32_t tree_pos, struct odb_object *obj,
		       struct error *err);

/* Set the error "<what>: <id>" about an object; returns its code. */
int objspace_error(struct objspace *space, uint32_t obj_pos,
		   enum error_code code, const char *what, struct error *err);

/*
 * Set the error "object <id> is a <actual>, not a <expected>"; returns
 * ERR_CORRUPT.
 */
int objspace_mistyped(struct objspace *space, uint32_t obj_pos,
		      enum object_type actual, enum object_type expected,
		      struct error *err);

/* Type and size by number. As odb_info(). */
int objspace_info(struct objspace *space, struct odb_reader *reader,
		  uint32_t obj_pos, enum object_type *type, uint64_t *size,
		  struct error *err);

#endif
