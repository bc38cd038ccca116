/* SPDX-License-Identifier: MIT */
/* Gives numbers to packed and other objects of a walk. */
#include "base/mem.h"
#include "odb/odb-midx.h"
#include "odb/odb-table.h"
#include "trees/objspace.h"

/*
 * If the object database has at least this many packs and multi-pack-indexes,
 * one look-up table is made for all of them together. Otherwise each of them
 * gets a table.
 */
#define MANY_SOURCES 4

void objspace_init(struct objspace *space, const struct odb *odb)
{
	*space = (struct objspace){
		.odb = odb,
		.packed_nr = odb->replaced ? 0 : odb->packed_nr,
		.extra = OIDMAP_INIT,
	};
	pthread_mutex_init(&space->lock, NULL);
}

void objspace_release(struct objspace *space)
{
	for (uint32_t i = 0; space->tables && i < space->odb->source_nr; i++)
		pack_idx_table_release(&space->tables[i]);
	free(space->tables);
	odb_table_release(&space->table);
	oidmap_release(&space->extra);
	free(space->extra_oids);
	pthread_mutex_destroy(&space->lock);
}

void objspace_accelerate(struct objspace *space)
{
	const struct odb *odb = space->odb;

	if (space->tables || space->table.slots || !space->packed_nr)
		return;
	if (odb->source_nr >= MANY_SOURCES) {
		/*
		 * If memory runs out, there is no table, and look-ups are
		 * slower.
		 */
		(void)odb_table_init(&space->table, odb);
		return;
	}
	space->tables = mem_calloc(odb->source_nr, sizeof(*space->tables));
	for (uint32_t i = 0; space->tables && i < odb->source_nr; i++) {
		pack_idx_table_init(&space->tables[i], odb->sources[i].ids);
		if (odb->sources[i].midx)
			odb_midx_table(odb, odb->sources[i].midx);
	}
}

/* Works like odb_find_raw(), but uses the look-up tables if they were made. */
bool objspace_find_packed(const struct objspace *space, const uint8_t *raw,
			  uint32_t *obj_pos)
{
	const struct odb *odb = space->odb;
	uint32_t ids_pos;

	if (!space->packed_nr)
		return false;
	if (space->table.slots)
		return odb_table_find(&space->table, raw, obj_pos);
	if (!space->tables)
		return odb_find_raw(odb, raw, obj_pos);
	for (uint32_t i = 0; i < odb->source_nr; i++)
		if (pack_idx_table_find(&space->tables[i], raw, &ids_pos))
			return odb_source_pos(odb, &odb->sources[i], ids_pos,
					      obj_pos) ||
			       odb_find_raw(odb, raw, obj_pos);
	return false;
}

void objspace_prefetch(const struct objspace *space, const uint8_t *const *raws,
		       size_t nr)
{
	for (uint32_t i = 0; space->tables && i < space->odb->source_nr; i++)
		pack_idx_table_prefetch(&space->tables[i], raws, nr);
}

/*
 * Gives a number to an object that is in no pack. The caller holds space->lock.
 */
static int add_extra(struct objspace *space, const struct oid *oid,
		     uint32_t *obj_pos)
{
	uint32_t index = (uint32_t)space->extra_nr;
	int added;

	if (space->packed_nr + space->extra_nr >= UINT32_MAX - 1)
		return ERR_NOMEM;
	if (mem_grow(&space->extra_oids, &space->extra_alloc,
		     space->extra_nr + 1, sizeof(*space->extra_oids)) < 0)
		return ERR_NOMEM;
	added = oidmap_add(&space->extra, oid, index, &index);
	if (added < 0)
		return added;
	if (added)
		space->extra_oids[space->extra_nr++] = *oid;
	*obj_pos = space->packed_nr + index;
	return 0;
}

int objspace_add(struct objspace *space, const uint8_t *raw, uint32_t *obj_pos)
{
	struct oid oid;
	int ret;

	if (objspace_find_packed(space, raw, obj_pos))
		return 0;
	oid_from_raw(&oid, raw, space->odb->algo);
	pthread_mutex_lock(&space->lock);
	ret = add_extra(space, &oid, obj_pos);
	pthread_mutex_unlock(&space->lock);
	return ret;
}

bool objspace_find(struct objspace *space, const uint8_t *raw,
		   uint32_t *obj_pos)
{
	struct oid oid;
	uint32_t index;
	bool found;

	if (objspace_find_packed(space, raw, obj_pos))
		return true;
	oid_from_raw(&oid, raw, space->odb->algo);
	pthread_mutex_lock(&space->lock);
	found = oidmap_get(&space->extra, &oid, &index);
	pthread_mutex_unlock(&space->lock);
	if (found)
		*obj_pos = space->packed_nr + index;
	return found;
}

uint32_t objspace_end(struct objspace *space)
{
	uint32_t end;

	pthread_mutex_lock(&space->lock);
	end = space->packed_nr + (uint32_t)space->extra_nr;
	pthread_mutex_unlock(&space->lock);
	return end;
}

void objspace_oid(struct oid *out, struct objspace *space, uint32_t obj_pos)
{
	if (obj_pos < space->packed_nr) {
		odb_oid(out, space->odb, obj_pos);
		return;
	}
	pthread_mutex_lock(&space->lock);
	*out = space->extra_oids[obj_pos - space->packed_nr];
	pthread_mutex_unlock(&space->lock);
}

const uint8_t *objspace_raw(const struct objspace *space, uint32_t obj_pos)
{
	if (obj_pos < space->packed_nr)
		return odb_oid_raw(space->odb, obj_pos);
	return space->extra_oids[obj_pos - space->packed_nr].bytes;
}

bool objspace_is_packed(struct objspace *space, uint32_t obj_pos)
{
	struct oid oid;
	uint32_t odb_pos;

	if (obj_pos < space->packed_nr || !space->odb->replaced)
		return obj_pos < space->packed_nr;
	objspace_oid(&oid, space, obj_pos);
	return odb_find(space->odb, &oid, &odb_pos);
}

int objspace_read(struct objspace *space, struct odb_reader *reader,
		  uint32_t obj_pos, struct odb_object *obj, struct error *err)
{
	struct oid oid;
	int ret = ERR_CORRUPT;

	if (obj_pos < space->packed_nr)
		ret = odb_read_pos(reader, obj_pos, obj, NULL);
	if (!ret)
		return 0;
	if (ret == ERR_NOMEM)
		return error_nomem(err);
	/*
	 * There is no packed copy at obj_pos, or it cannot be read. odb_read()
	 * tries all copies of the object, and sets the error.
	 */
	objspace_oid(&oid, space, obj_pos);
	return odb_read(reader, &oid, obj, err);
}

int objspace_read_tree(struct objspace *space, struct odb_reader *reader,
		       uint32_t tree_pos, struct odb_object *obj,
		       struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid oid;
	int ret = objspace_read(space, reader, tree_pos, obj, err);

	if (ret == ERR_MISSING) {
		objspace_oid(&oid, space, tree_pos);
		return error_set(err, ERR_MISSING,
				 "bad tree object %s: the object is missing",
				 oid_to_hex(hex, &oid, space->odb->algo));
	}
	if (ret < 0 || obj->type == OBJ_TREE)
		return ret;
	odb_object_release(reader, obj);
	return objspace_error(space, tree_pos, ERR_CORRUPT, "not a tree object",
			      err);
}

int objspace_mistyped(struct objspace *space, uint32_t obj_pos,
		      enum object_type actual, enum object_type expected,
		      struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid oid;

	objspace_oid(&oid, space, obj_pos);
	return error_set(err, ERR_CORRUPT, "object %s is a %s, not a %s",
			 oid_to_hex(hex, &oid, space->odb->algo),
			 object_type_name(actual), object_type_name(expected));
}

int objspace_error(struct objspace *space, uint32_t obj_pos,
		   enum error_code code, const char *what, struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid oid;

	objspace_oid(&oid, space, obj_pos);
	return error_set(err, code, "%s: %s", what,
			 oid_to_hex(hex, &oid, space->odb->algo));
}

int objspace_info(struct objspace *space, struct odb_reader *reader,
		  uint32_t obj_pos, enum object_type *type, uint64_t *size,
		  struct error *err)
{
	struct oid oid;

	if (obj_pos < space->packed_nr &&
	    !odb_info_pos(reader, obj_pos, type, size, NULL))
		return 0;
	objspace_oid(&oid, space, obj_pos);
	return odb_info(reader, &oid, type, size, err);
}
