/* SPDX-License-Identifier: MIT */
/*
 * Reads objects from packs and loose files. If one copy of an object cannot be
 * read, the other copies are tried. If all fail, the first failure is reported.
 *
 * An object that is not found may have been packed after the snapshot was
 * opened. So a reader has a later snapshot of its own. The later snapshot is
 * opened when an object is missing, and again if packs have changed since.
 *
 * If the snapshot has a provider, the reader asks the provider for an object
 * that is in neither snapshot. Then the reader opens the later snapshot again.
 * One thread at a time calls the provider. A thread that had to wait searches
 * for the object once more before its call.
 *
 * A delta needs its base, and the copy of the base in the same pack may be
 * damaged. Then a second reader, the spare reader, reads another copy of the
 * base, because the first reader is in the middle of a delta chain. A set of
 * damaged copies prevents an endless loop between copies that depend on each
 * other.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "object/hash.h"
#include "object/parse.h"
#include "odb/bad-copies.h"
#include "odb/loose.h"
#include "odb/odb.h"
#include "odb/replaced.h"
#include "sys/map.h"

/*
 * Limit of nested spare readers. A spare reader reads another copy of a damaged
 * delta base. If the spare reader meets a damaged base itself, it uses a
 * further spare reader, and so on.
 */
#define SPARE_DEPTH_MAX 16
#define SPARE_CACHE_LIMIT ((size_t)8 << 20)
/*
 * limit of the length of a chain of tags: tags with wrong ids could form a
 * cycle
 */
#define PEEL_DEPTH_MAX 4096

struct odb_reader {
	const struct odb *odb;    /* borrowed */
	struct pack_reader *pack; /* owned */
	/*
	 * owned: a snapshot opened later than `odb`, for objects that `odb`
	 * lacks; NULL until it is needed
	 */
	struct odb *late;
	/* damaged copies of delta bases; used only in the reader `first` */
	struct bad_copies bad;
	/*
	 * Borrowed: the reader that the caller uses. It may have a spare
	 * reader, which may have a further one, and so on. In all of these
	 * readers, `first` points to the caller's reader.
	 */
	struct odb_reader *first;
	/*
	 * owned: spare reader. If the copy of a delta base in the delta's own
	 * pack is damaged, the spare reader reads another copy of the base.
	 * NULL until it is needed.
	 */
	struct odb_reader *spare;
	/* owned: reader of odb_read_sound(); NULL until it is needed */
	struct odb_reader *sound;
	/*
	 * nesting depth: 0 in the reader `first`; in a spare reader, one more
	 * than in the reader for which it reads
	 */
	unsigned depth;
	bool is_sound; /* verify ids and CRCs */
};

static int find_spare(void *ctx, struct pack *pack, uint64_t offset,
		      const struct oid *oid, bool with_data,
		      struct pack_spare *spare);

struct odb_reader *odb_reader_new(const struct odb *odb, size_t cache_limit)
{
	struct odb_reader *reader = mem_calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->odb = odb;
	reader->first = reader;
	reader->pack = pack_reader_new(cache_limit);
	if (!reader->pack) {
		free(reader);
		return NULL;
	}
	pack_reader_set_spare(reader->pack, find_spare, reader);
	return reader;
}

/*
 * Removes all references to packs of the reader's later snapshot, which is
 * about to be closed.
 */
static void forget_late(struct odb_reader *reader, const struct odb *late)
{
	for (; reader; reader = reader->spare)
		for (uint32_t i = 0; i < late->pack_nr; i++)
			pack_reader_forget(reader->pack, late->packs[i].pack);
}

static void close_late(struct odb_reader *reader)
{
	if (reader->late) {
		forget_late(reader, reader->late);
		bad_copies_reset(&reader->bad);
	}
	odb_close(reader->late);
	reader->late = NULL;
}

void odb_reader_free(struct odb_reader *reader)
{
	if (!reader)
		return;
	odb_reader_free(reader->sound);
	close_late(reader);
	odb_reader_free(reader->spare);
	bad_copies_reset(&reader->bad);
	pack_reader_free(reader->pack);
	free(reader);
}

/*
 * Opens a snapshot of the present packs as reader->late, and closes the
 * snapshot that reader->late was before. Returns false after an error.
 */
static bool open_late(struct odb_reader *reader)
{
	close_late(reader);
	return !odb_open(&reader->late, reader->odb->repo, NULL, NULL);
}

/*
 * Opens reader->late: a snapshot of the packs that is newer than reader->odb,
 * for objects that reader->odb lacks. If it is open already, opens it again
 * only if packs were added or removed since then. Returns true if this call has
 * opened a snapshot, false if not or after an error.
 */
static bool look_again(struct odb_reader *reader)
{
	if (reader->late && !odb_has_changed(reader->late))
		return false;
	return open_late(reader);
}

const struct odb *odb_reader_holder(const struct odb_reader *reader,
				    const struct oid *oid)
{
	uint32_t odb_pos;

	if (!odb_find(reader->odb, oid, &odb_pos) && reader->late &&
	    odb_find(reader->late, oid, &odb_pos))
		return reader->late;
	return reader->odb;
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
 * A search for one object. If `obj` is not NULL, the search reads the content
 * of the object, otherwise only its type and size.
 */
struct wanted {
	struct odb_reader *reader;
	const struct oid *oid;
	struct odb_object *obj; /* or NULL */
	enum object_type *type; /* or NULL */
	uint64_t *size;         /* or NULL */
};

int odb_object_check_id(const struct odb_object *obj, const struct oid *oid,
			enum hash_algo algo, struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct hash_ctx hash;
	struct oid actual;

	if (hash_init(&hash, algo) < 0)
		return error_nomem(err);
	hash_object(&hash, &actual, obj->type, obj->data, obj->len);
	hash_release(&hash);
	if (oid_equal(&actual, oid))
		return 0;
	return error_set(err, ERR_CORRUPT, "object %s is corrupt",
			 oid_to_hex(hex, oid, algo));
}

/*
 * If the reader verifies ids (odb_read_sound()), verifies that the content has
 * the wanted id. Returns 0, or ERR_CORRUPT or ERR_NOMEM with the object
 * released.
 */
static int check_id(const struct wanted *w, struct error *err)
{
	int ret = 0;

	if (w->obj && w->reader->is_sound)
		ret = odb_object_check_id(w->obj, w->oid, w->reader->odb->algo,
					  err);
	if (ret < 0)
		odb_object_release(w->reader, w->obj);
	return ret;
}

static int try_entry(const struct wanted *w, struct pack *pack, uint64_t offset,
		     struct error *err)
{
	int ret;

	if (!w->obj)
		return pack_reader_info(w->reader->pack, pack, offset, w->type,
					w->size, err);
	ret = read_packed(w->reader, pack, offset, w->obj, err);
	return ret < 0 ? ret : check_id(w, err);
}

/*
 * Tries to read the object from one pack. Returns 0 or a negative error code.
 *
 * w->reader may be a spare reader. This is a second reader, which is used when
 * the first reader has found a damaged delta base. The spare reader reads
 * another copy of this base. If a spare reader finds that a copy is damaged,
 * the copy is added to first->bad. A spare reader does not read the copies in
 * first->bad again: for them, the result is ERR_MISSING.
 */
static int try_packed(const struct wanted *w, struct pack *pack,
		      uint32_t idx_pos, struct error *err)
{
	uint64_t offset = pack_idx_offset(&pack->idx, idx_pos);
	struct odb_reader *first = w->reader->first;
	int ret;

	if (w->reader == first)
		return try_entry(w, pack, offset, err);
	if (bad_copies_find(&first->bad, pack, offset))
		return ERR_MISSING;
	ret = try_entry(w, pack, offset, err);
	if (ret == ERR_CORRUPT && !bad_copies_add(&first->bad, pack, offset))
		ret = error_nomem(err);
	return ret;
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
	return check_id(w, err);
}

/*
 * Reports a corrupt loose object: first the file, then the reason without the
 * name of the file. Returns ERR_CORRUPT.
 */
static int report_loose(const struct wanted *w, const char *path,
			const struct error *why, struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	const char *msg = why->msg;
	size_t len = strlen(path);

	if (!strncmp(msg, path, len) && !strncmp(msg + len, ": ", 2))
		msg += len + 2;
	return error_set(err, ERR_CORRUPT,
			 "loose object %s (stored in %s) is corrupt: %s",
			 oid_to_hex(hex, w->oid, w->reader->odb->algo), path,
			 msg);
}

static int try_loose(const struct wanted *w, const char *dir, struct error *err)
{
	struct error why = ERROR_INIT;
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
	ret = take_loose(w, &map, path.data, &why);
	sys_map_close(&map);
	if (ret == ERR_CORRUPT)
		report_loose(w, path.data, &why, err);
	else if (ret < 0 && err)
		*err = why;
out:
	buf_release(&path);
	return ret;
}

/*
 * Records the first error of a search: its code in *first, and its description
 * in *err. Later errors are ignored.
 */
static void note_failure(int *first, int ret, const struct error *why,
			 struct error *err)
{
	if (*first != ERR_MISSING || ret == ERR_MISSING)
		return;
	*first = ret;
	if (err)
		*err = *why;
}

/*
 * Tries all copies of an object in packs except the canonical copy, which could
 * not be read. Returns 0 if a copy was read, otherwise *first, the first error
 * of the whole search.
 */
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

/*
 * Searches the packs of a snapshot. *first is the first error of the whole
 * search so far (see note_failure()), or 0. Returns 0 if a copy was read,
 * otherwise *first.
 */
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

/*
 * If the wanted object is the empty tree, takes the built-in empty tree, which
 * exists even if it is not stored. Returns 0, or ERR_MISSING for any other
 * object.
 */
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

/*
 * Searches reader->late, a snapshot that the reader has opened later than its
 * first one. If the snapshot does not have the object, checks whether packs
 * were added or removed since the snapshot was opened. If so, opens the
 * snapshot again and searches it once more. Returns 0 if a copy was read,
 * otherwise *first, the first error of the whole search.
 */
static int search_late(const struct wanted *w, int *first, struct error *err)
{
	struct odb_reader *reader = w->reader->first;
	int ret = *first;

	if (reader->late)
		ret = search_packs(w, reader->late, first, err);
	/*
	 * look_again() may replace reader->late by a newer snapshot, and closes
	 * the old one. Only the reader that the caller uses may do this. A
	 * spare reader (a second reader, which reads another copy of a damaged
	 * delta base) must not do it: packs of the old snapshot are in use and
	 * must stay open.
	 */
	if (ret < 0 && reader == w->reader && look_again(reader))
		ret = search_packs(w, reader->late, first, err);
	return ret;
}

/*
 * Tries all copies of the wanted object itself. Replacements (git-replace(1))
 * are ignored. Returns 0 if a copy was read, ERR_MISSING if there is none, or
 * the first error.
 */
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

static struct odb_reader *spare_reader(struct odb_reader *reader)
{
	struct odb_reader *spare = reader->spare;

	if (spare)
		return spare;
	spare = odb_reader_new(reader->odb, SPARE_CACHE_LIMIT);
	if (!spare)
		return NULL;
	spare->first = reader->first;
	spare->depth = reader->depth + 1;
	spare->is_sound = reader->is_sound;
	if (spare->is_sound)
		pack_reader_check_crcs(spare->pack);
	reader->spare = spare;
	return spare;
}

static int take_spare(struct odb_reader *reader, struct odb_object *obj,
		      struct pack_spare *spare)
{
	spare->type = obj->type;
	spare->len = obj->len;
	spare->data = mem_alloc(obj->len + 1, 1);
	if (spare->data)
		memcpy(spare->data, obj->data, obj->len + 1);
	odb_object_release(reader, obj);
	return spare->data ? 0 : ERR_NOMEM;
}

static int read_spare(struct odb_reader *reader, const struct oid *oid,
		      bool with_data, struct pack_spare *spare)
{
	struct odb_object obj = ODB_OBJECT_INIT;
	struct wanted w = {.reader = reader, .oid = oid};
	int ret;

	if (with_data)
		w.obj = &obj;
	else
		w.type = &spare->type;
	ret = search_itself(&w, NULL);
	return ret || !with_data ? ret : take_spare(reader, &obj, spare);
}

/*
 * Finds another copy of a damaged delta base. The pack reader calls this
 * function. Returns 0 with *spare set, ERR_CORRUPT if there is no other copy,
 * or another negative error code.
 */
static int find_spare(void *ctx, struct pack *pack, uint64_t offset,
		      const struct oid *oid, bool with_data,
		      struct pack_spare *spare)
{
	struct odb_reader *reader = ctx, *first = reader->first;
	struct bad_copy *bad;
	int ret;

	if (reader->depth == SPARE_DEPTH_MAX)
		return ERR_CORRUPT;
	if (!spare_reader(reader))
		return ERR_NOMEM;
	bad = bad_copies_add(&first->bad, pack, offset);
	if (!bad || bad->is_alone)
		return bad ? ERR_CORRUPT : ERR_NOMEM;
	bad->is_alone = true;
	ret = read_spare(reader->spare, oid, with_data, spare);
	if (ret != ERR_CORRUPT && ret != ERR_MISSING)
		bad_copies_find(&first->bad, pack, offset)->is_alone = false;
	return ret;
}

/*
 * Calls the provider, which gets missing objects, for example by a fetch. The
 * provider stores the objects in new packs, which the snapshot of the reader
 * lacks. So after success, opens reader->late again: the later snapshot of the
 * packs, which is searched for objects that the first one lacks. This is done
 * even if the modification time of the pack directory is unchanged: if a
 * directory changes twice within one clock tick, the second change leaves the
 * time as it is. The caller holds the lock of the provider. Returns 0 or a
 * negative error code.
 */
static int provide(struct odb_reader *reader, const struct oid *oids, size_t nr,
		   struct error *err)
{
	const struct odb_provider *provider = reader->odb->provider;
	int ret = provider->provide(provider->ctx, oids, nr, err);

	if (!ret)
		open_late(reader);
	return ret;
}

/*
 * Asks the provider (for example a fetch from a promisor remote) for an object
 * that search_itself() did not find. First searches again, because another
 * thread may have fetched the object meanwhile. Returns 0 if the object was
 * read, ERR_MISSING, or another negative error code.
 */
static int search_provided(const struct wanted *w, struct error *err)
{
	pthread_mutex_t *lock =
		(pthread_mutex_t *)&w->reader->odb->provider_lock;
	int ret;

	pthread_mutex_lock(lock);
	ret = search_itself(w, err);
	if (ret == ERR_MISSING) {
		ret = provide(w->reader, w->oid, 1, err);
		if (!ret)
			ret = search_itself(w, err);
	}
	pthread_mutex_unlock(lock);
	return ret;
}

static bool asks_provider(const struct odb_reader *reader)
{
	return reader->odb->provider && !reader->odb->provider->batches_only;
}

static int search(struct wanted *w, struct error *err)
{
	const struct odb *odb = w->reader->odb;
	int ret = 0;

	if (odb->replaced)
		ret = odb_replaced_follow(odb->replaced, &w->oid, odb->algo,
					  err);
	if (!ret)
		ret = search_itself(w, err);
	if (ret == ERR_MISSING && asks_provider(w->reader))
		ret = search_provided(w, err);
	return ret;
}

int odb_reader_provide(struct odb_reader *reader, const struct oid *oids,
		       size_t nr, struct error *err)
{
	pthread_mutex_t *lock = (pthread_mutex_t *)&reader->odb->provider_lock;
	int ret;

	if (!nr || !reader->odb->provider)
		return 0;
	pthread_mutex_lock(lock);
	ret = provide(reader, oids, nr, err);
	pthread_mutex_unlock(lock);
	return ret == ERR_MISSING ? 0 : ret;
}

int odb_read(struct odb_reader *reader, const struct oid *oid,
	     struct odb_object *obj, struct error *err)
{
	struct wanted w = {reader, oid, obj, NULL, NULL};

	*obj = (struct odb_object)ODB_OBJECT_INIT;
	return search(&w, err);
}

static struct odb_reader *sound_reader(struct odb_reader *reader)
{
	if (!reader->sound)
		reader->sound = odb_reader_new(reader->odb, SPARE_CACHE_LIMIT);
	if (reader->sound) {
		reader->sound->is_sound = true;
		pack_reader_check_crcs(reader->sound->pack);
	}
	return reader->sound;
}

int odb_read_sound(struct odb_reader *reader, const struct oid *oid,
		   struct odb_object *obj, struct error *err)
{
	struct odb_object found = ODB_OBJECT_INIT;
	struct pack_spare spare;
	int ret;

	*obj = found;
	if (!sound_reader(reader))
		return error_nomem(err);
	ret = odb_read(reader->sound, oid, &found, err);
	if (ret < 0)
		return ret;
	if (take_spare(reader->sound, &found, &spare) < 0)
		return error_nomem(err);
	*obj = (struct odb_object){
		.type = spare.type,
		.data = spare.data,
		.len = spare.len,
		.loose = spare.data,
	};
	return 0;
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

int odb_reader_need(struct odb_reader *reader, const struct oid *oid,
		    struct error *err)
{
	int ret;

	if (odb_reader_has(reader, oid))
		return 1;
	if (!asks_provider(reader))
		return 0;
	ret = odb_info(reader, oid, NULL, NULL, err);
	return ret == ERR_MISSING ? 0 : ret < 0 ? ret : 1;
}

/*
 * Finds the target of a tag, and the type that the tag gives to the target.
 * Returns 0 or a negative error code.
 */
static int read_tag(struct odb_reader *reader, const struct oid *tag,
		    struct oid *target, enum object_type *type,
		    struct error *err)
{
	struct odb_object obj;
	struct tag_view view;
	int ret = odb_read(reader, tag, &obj, err);

	if (ret < 0)
		return ret;
	ret = tag_parse(&view, obj.data, obj.len, reader->odb->algo, err);
	if (!ret) {
		*target = view.target;
		*type = view.target_type;
	}
	odb_object_release(reader, &obj);
	return ret;
}

int odb_peel_tag(struct odb_reader *reader, const struct oid *tag,
		 struct oid *peeled, struct error *err)
{
	enum object_type type = OBJ_TAG;
	struct oid at = *tag;
	int ret = 0;

	for (unsigned depth = 0; type == OBJ_TAG && !ret; depth++)
		ret = depth < PEEL_DEPTH_MAX
			      ? read_tag(reader, &at, &at, &type, err)
			      : error_set(err, ERR_CORRUPT,
					  "a chain of tags is too long");
	if (!ret)
		*peeled = at;
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
		ret = read_tag(reader, &at, &at, &at_type, err);
		if (ret < 0)
			return ret;
	}
	return error_set(err, ERR_CORRUPT,
			 "the chain of tags that begins with %s is too long",
			 oid_to_hex(hex, oid, reader->odb->algo));
}

int odb_find_peeled(struct odb_reader *reader, const struct oid *oid,
		    struct oid *peeled, struct error *err)
{
	enum object_type type;
	int ret = odb_info(reader, oid, &type, NULL, err);

	if (!ret && type != OBJ_TAG)
		return ODB_PEELED_OTHER;
	if (!ret)
		ret = odb_peel(reader, oid, peeled, NULL, err);
	if (!ret)
		return ODB_PEELED_TAG;
	return ret == ERR_NOMEM || ret == ERR_IO ? ret : ODB_PEELED_UNKNOWN;
}
