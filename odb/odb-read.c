/* SPDX-License-Identifier: MIT */
/*
 * Reading objects, wherever they are. An object that cannot be read in one
 * place is looked for in the others; the first failure is what is reported
 * when none of them will do.
 *
 * One that is nowhere may have been packed since the snapshot was taken. A
 * reader has a later snapshot of its own for these, taken when the first is
 * missed, and again when packs have changed since.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "object/parse.h"
#include "odb/loose.h"
#include "odb/odb.h"
#include "odb/replaced.h"
#include "sys/map.h"

#define PEEL_DEPTH_MAX 4096 /* tags whose ids are not checked could cycle */

struct odb_reader {
	const struct odb *odb;    /* borrowed */
	struct pack_reader *pack; /* owned */
	struct odb *late;         /* owned: NULL before it was needed */
};

struct odb_reader *odb_reader_new(const struct odb *odb, size_t cache_limit)
{
	struct odb_reader *reader = mem_calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->odb = odb;
	reader->pack = pack_reader_new(cache_limit);
	if (!reader->pack) {
		free(reader);
		return NULL;
	}
	return reader;
}

static void close_late(struct odb_reader *reader)
{
	for (uint32_t i = 0; reader->late && i < reader->late->pack_nr; i++)
		pack_reader_forget(reader->pack, reader->late->packs[i].pack);
	odb_close(reader->late);
	reader->late = NULL;
}

void odb_reader_free(struct odb_reader *reader)
{
	if (!reader)
		return;
	close_late(reader);
	pack_reader_free(reader->pack);
	free(reader);
}

/* Have a snapshot of what is there now. False when there is nothing new. */
static bool look_again(struct odb_reader *reader)
{
	if (reader->late && !odb_has_changed(reader->late))
		return false;
	close_late(reader);
	return !odb_open(&reader->late, reader->odb->repo, NULL, NULL);
}

struct pack_reader *odb_reader_pack(struct odb_reader *reader)
{
	return reader->pack;
}

void odb_object_release(struct odb_reader *reader, struct odb_object *obj)
{
	struct pack_object packed = {obj->type, obj->data, obj->len, obj->pin};

	if (obj->pin)
		pack_object_release(reader->pack, &packed);
	free(obj->loose);
	*obj = (struct odb_object)ODB_OBJECT_INIT;
}

static int read_packed(struct odb_reader *reader, struct pack *pack,
		       uint64_t offset, struct odb_object *obj,
		       struct error *err)
{
	struct pack_object packed;
	int ret = pack_reader_read(reader->pack, pack, offset, &packed, err);

	*obj = (struct odb_object)ODB_OBJECT_INIT;
	if (ret < 0)
		return ret;
	obj->type = packed.type;
	obj->data = packed.data;
	obj->len = packed.len;
	obj->pin = packed.pin;
	return 0;
}

int odb_read_pos(struct odb_reader *reader, uint32_t odb_pos,
		 struct odb_object *obj, struct error *err)
{
	struct pack *pack;
	uint64_t offset = odb_offset(reader->odb, odb_pos, &pack);

	return read_packed(reader, pack, offset, obj, err);
}

int odb_info_pos(struct odb_reader *reader, uint32_t odb_pos,
		 enum object_type *type, uint64_t *size, struct error *err)
{
	struct pack *pack;
	uint64_t offset = odb_offset(reader->odb, odb_pos, &pack);

	return pack_reader_info(reader->pack, pack, offset, type, size, err);
}

/*
 * What is wanted of an object: its content (`obj`), or its type and size. One
 * search serves both.
 */
struct wanted {
	struct odb_reader *reader;
	const struct oid *oid;
	struct odb_object *obj; /* or NULL */
	enum object_type *type; /* or NULL */
	uint64_t *size;         /* or NULL */
};

static int try_packed(const struct wanted *w, struct pack *pack,
		      uint32_t idx_pos, struct error *err)
{
	uint64_t offset = pack_idx_offset(&pack->idx, idx_pos);

	if (w->obj)
		return read_packed(w->reader, pack, offset, w->obj, err);
	return pack_reader_info(w->reader->pack, pack, offset, w->type, w->size,
				err);
}

static int take_loose(const struct wanted *w, const struct sys_map *map,
		      const char *path, struct error *err)
{
	struct inflater *inf = pack_reader_inflater(w->reader->pack);
	struct loose_header header;
	struct loose_object loose;
	int ret;

	if (!w->obj) {
		ret = loose_info(&header, inf, map->data, map->len, path, err);
		if (ret < 0)
			return ret;
		if (w->type)
			*w->type = header.type;
		if (w->size)
			*w->size = header.size;
		return 0;
	}
	ret = loose_read(&loose, inf, map->data, map->len, path, err);
	if (ret < 0)
		return ret;
	w->obj->type = loose.type;
	w->obj->data = loose.data;
	w->obj->len = loose.len;
	w->obj->loose = loose.memory;
	return 0;
}

static int try_loose(const struct wanted *w, const char *dir, struct error *err)
{
	struct buf path = BUF_INIT;
	struct sys_map map;
	int ret;

	if (odb_loose_path(&path, w->reader->odb, dir, w->oid) < 0) {
		ret = error_nomem(err);
		goto out;
	}
	ret = sys_map_open(&map, path.data, err);
	if (ret < 0)
		goto out;
	ret = take_loose(w, &map, path.data, err);
	sys_map_close(&map);
out:
	buf_release(&path);
	return ret;
}

/* Remember the first failure of a search: *err belongs to it. */
static void note_failure(int *first, int ret, const struct error *why,
			 struct error *err)
{
	if (*first != ERR_MISSING || ret == ERR_MISSING)
		return;
	*first = ret;
	if (err)
		*err = *why;
}

/* Any copy but the canonical one, which could not be read. */
static int search_copies(const struct wanted *w, const struct odb *odb,
			 uint32_t canonical, int *first, struct error *err)
{
	struct error why = ERROR_INIT;
	uint32_t i;
	int ret;

	for (i = 0; i < odb->pack_nr; i++) {
		struct pack *pack = odb->packs[i].pack;
		uint32_t idx_pos;

		if (!pack_idx_find(&pack->idx, w->oid->bytes, &idx_pos) ||
		    odb->packs[i].first_pos + idx_pos == canonical)
			continue;
		ret = try_packed(w, pack, idx_pos, &why);
		if (!ret)
			return 0;
		note_failure(first, ret, &why, err);
	}
	return *first;
}

/* Search the packs of a snapshot; *first is kept for note_failure(). */
static int search_packs(const struct wanted *w, const struct odb *odb,
			int *first, struct error *err)
{
	struct error why = ERROR_INIT;
	const struct odb_pack *op;
	uint32_t odb_pos, idx_pos;
	int ret;

	if (!odb_find(odb, w->oid, &odb_pos))
		return *first;
	op = odb_locate(odb, odb_pos, &idx_pos);
	ret = try_packed(w, op->pack, idx_pos, &why);
	if (!ret)
		return 0;
	note_failure(first, ret, &why, err);
	return search_copies(w, odb, odb_pos, first, err);
}

static int search_loose(const struct wanted *w, int *first, struct error *err)
{
	const struct odb *odb = w->reader->odb;
	struct error why = ERROR_INIT;

	for (size_t i = 0; i < odb->dir_nr; i++) {
		int ret = try_loose(w, odb->dirs[i], &why);

		if (!ret)
			return 0;
		note_failure(first, ret, &why, err);
	}
	return *first;
}

/* The empty tree, whether a copy is stored or not. */
static int take_built_in(const struct wanted *w)
{
	if (!oid_equal(w->oid, oid_empty_tree(w->reader->odb->algo)))
		return ERR_MISSING;
	if (w->obj) {
		w->obj->type = OBJ_TREE;
		w->obj->data = (const uint8_t *)"";
	}
	if (w->type)
		*w->type = OBJ_TREE;
	if (w->size)
		*w->size = 0;
	return 0;
}

/* Search what came later, as far as it is known and then anew. */
static int search_late(const struct wanted *w, int *first, struct error *err)
{
	struct odb_reader *reader = w->reader;
	int ret = ERR_MISSING;

	if (reader->late)
		ret = search_packs(w, reader->late, first, err);
	if (ret < 0 && look_again(reader))
		ret = search_packs(w, reader->late, first, err);
	return ret;
}

/* Any copy of the object itself. */
static int search_itself(const struct wanted *w, struct error *err)
{
	const struct odb *odb = w->reader->odb;
	char hex[OID_MAX_HEX_LEN + 1];
	int first = ERR_MISSING;
	int ret = take_built_in(w);

	if (ret < 0)
		ret = search_packs(w, odb, &first, err);
	if (ret < 0)
		ret = search_loose(w, &first, err);
	if (ret < 0)
		ret = search_late(w, &first, err);
	if (!ret)
		return 0;
	if (first == ERR_MISSING)
		error_set(err, ERR_MISSING, "object %s is missing",
			  oid_to_hex(hex, w->oid, odb->algo));
	return first;
}

static int search(struct wanted *w, struct error *err)
{
	const struct odb *odb = w->reader->odb;
	int ret = 0;

	if (odb->replaced)
		ret = odb_replaced_follow(odb->replaced, &w->oid, odb->algo,
					  err);
	return ret < 0 ? ret : search_itself(w, err);
}

int odb_read(struct odb_reader *reader, const struct oid *oid,
	     struct odb_object *obj, struct error *err)
{
	struct wanted w = {reader, oid, obj, NULL, NULL};

	*obj = (struct odb_object)ODB_OBJECT_INIT;
	return search(&w, err);
}

int odb_info(struct odb_reader *reader, const struct oid *oid,
	     enum object_type *type, uint64_t *size, struct error *err)
{
	struct wanted w = {reader, oid, NULL, type, size};

	return search(&w, err);
}

bool odb_reader_has(struct odb_reader *reader, const struct oid *oid)
{
	uint32_t odb_pos;

	if (odb_has(reader->odb, oid))
		return true;
	if (reader->late && odb_find(reader->late, oid, &odb_pos))
		return true;
	return look_again(reader) && odb_find(reader->late, oid, &odb_pos);
}

/* What a tag points at. */
static int read_tag(struct odb_reader *reader, const struct oid *tag,
		    struct oid *target, struct error *err)
{
	struct odb_object obj;
	struct tag_view view;
	int ret = odb_read(reader, tag, &obj, err);

	if (ret < 0)
		return ret;
	ret = tag_parse(&view, obj.data, obj.len, reader->odb->algo, err);
	if (!ret)
		*target = view.target;
	odb_object_release(reader, &obj);
	return ret;
}

int odb_peel(struct odb_reader *reader, const struct oid *oid,
	     struct oid *peeled, enum object_type *type, struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	enum object_type at_type;
	struct oid at = *oid;
	unsigned depth;
	int ret;

	for (depth = 0; depth < PEEL_DEPTH_MAX; depth++) {
		ret = odb_info(reader, &at, &at_type, NULL, err);
		if (ret < 0)
			return ret;
		if (at_type != OBJ_TAG) {
			*peeled = at;
			if (type)
				*type = at_type;
			return 0;
		}
		ret = read_tag(reader, &at, &at, err);
		if (ret < 0)
			return ret;
	}
	return error_set(err, ERR_CORRUPT, "tag %s does not end",
			 oid_to_hex(hex, oid, reader->odb->algo));
}
