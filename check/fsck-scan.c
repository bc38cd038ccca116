/* SPDX-License-Identifier: MIT */
/* Reads all objects of a repository. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/fsck-objects.h"
#include "object/hash.h"
#include "odb/loose.h"
#include "pack/verify.h"
#include "sys/map.h"
#include "sys/thread.h"

/*
 * Number of tasks that read loose objects: one for each value of the first byte
 * of an id.
 */
enum { LOOSE_TASKS = 256 };

/* The state of one thread; also the context of fsck's callbacks. */
struct worker {
	struct fsck_scan *scan;
	struct fsck fsck;
	struct hash_ctx hash;
	struct inflater *inflater; /* owned */
	/*
	 * borrowed: receives the error of the function that this thread is
	 * calling
	 */
	struct error *err;
};

struct run {
	struct fsck_scan *scan;
	/* owned: the states of the threads, indexed by thread_nr */
	struct worker *workers;
	unsigned threads;
	/* the pack that is being read */
	const struct odb_pack *pack;
	bool list_only;
	struct progress meter;
};

void fsck_scan_init(struct fsck_scan *scan)
{
	memset(scan, 0, sizeof(*scan));
	pthread_mutex_init(&scan->lock, NULL);
	fsck_blobs_init(&scan->blobs);
}

void fsck_scan_release(struct fsck_scan *scan)
{
	free(scan->types);
	bitset_release(&scan->checked);
	fsck_blobs_release(&scan->blobs);
	pthread_mutex_destroy(&scan->lock);
}

/* ---- callbacks, one at a time */

static int on_report(void *ctx, const struct fsck_report *report,
		     struct error *err)
{
	struct worker *w = ctx;
	struct fsck_scan *scan = w->scan;
	int ret;

	pthread_mutex_lock(&scan->lock);
	scan->has_errors |= report->is_error;
	ret = scan->events->report(scan->events->ctx, report, err);
	pthread_mutex_unlock(&scan->lock);
	return ret;
}

static int on_found(void *ctx, const struct oid *oid, enum fsck_special special,
		    struct error *err)
{
	struct worker *w = ctx;

	return fsck_blobs_add(&w->scan->blobs, oid, special, err);
}

static int say_corrupt(struct fsck_scan *scan, const struct oid *oid,
		       const struct pack *pack, const char *path,
		       const struct error *why, struct error *err)
{
	int ret;

	pthread_mutex_lock(&scan->lock);
	ret = scan->events->corrupt(scan->events->ctx, oid, pack, path, why,
				    err);
	pthread_mutex_unlock(&scan->lock);
	return ret;
}

static int say_object(struct fsck_scan *scan, const struct oid *oid,
		      enum object_type type, const void *data, size_t len,
		      struct error *err)
{
	int ret;

	if (!scan->events->object)
		return 0;
	pthread_mutex_lock(&scan->lock);
	ret = scan->events->object(scan->events->ctx, oid, type, data, len,
				   err);
	pthread_mutex_unlock(&scan->lock);
	return ret;
}

/* ---- types */

static int note_type(struct fsck_scan *scan, uint32_t obj_pos,
		     enum object_type type)
{
	size_t before = scan->type_alloc;

	if (mem_grow(&scan->types, &scan->type_alloc, (size_t)obj_pos + 1, 1) <
	    0)
		return ERR_NOMEM;
	memset(scan->types + before, OBJ_NONE, scan->type_alloc - before);
	if (scan->type_nr <= obj_pos)
		scan->type_nr = (size_t)obj_pos + 1;
	scan->types[obj_pos] = (uint8_t)type;
	return 0;
}

/*
 * Adds an object to scan->checked, if the set is used. Returns 0 or ERR_NOMEM.
 */
static int note_checked(struct fsck_scan *scan, uint32_t obj_pos)
{
	if (!scan->has_checked)
		return 0;
	if (obj_pos >= scan->checked.bits &&
	    bitset_grow(&scan->checked, (size_t)obj_pos + 1) < 0)
		return ERR_NOMEM;
	bitset_set(&scan->checked, obj_pos);
	return 0;
}

/*
 * Stores the type of an object in scan->types. For a packed object with
 * several copies, the type is stored at the obj_pos that objspace_find()
 * returns. Returns 0 or ERR_NOMEM.
 */
static int note_object(struct fsck_scan *scan, const struct oid *oid,
		       enum object_type type, struct error *err)
{
	uint32_t obj_pos;
	int ret = objspace_add(scan->space, oid->bytes, &obj_pos);

	pthread_mutex_lock(&scan->lock);
	if (!ret)
		ret = note_type(scan, obj_pos, type);
	if (!ret)
		ret = note_checked(scan, obj_pos);
	pthread_mutex_unlock(&scan->lock);
	return ret < 0 ? error_nomem(err) : 0;
}

static int note_packed(struct run *r, uint32_t idx_pos, const struct oid *oid,
		       enum object_type type, struct error *err)
{
	const struct odb *odb = r->scan->space->odb;
	uint32_t obj_pos = r->pack->first_pos + idx_pos;

	if (odb->pack_nr > 1 && !odb_find(odb, oid, &obj_pos))
		return 0;
	/*
	 * No lock is needed: the array has packed_nr elements from the start,
	 * so it does not grow here, and threads write different elements.
	 */
	r->scan->types[obj_pos] = (uint8_t)type;
	progress_add(&r->meter, 1);
	return 0;
}

/* ---- one object */

static int check(struct worker *w, const struct oid *oid, enum object_type type,
		 const void *data, size_t len, struct error *err)
{
	int ret = fsck_object(&w->fsck, oid, type, data, len, err);

	return ret < 0 ? ret : say_object(w->scan, oid, type, data, len, err);
}

static int on_packed(void *ctx, unsigned thread_nr, uint32_t idx_pos,
		     enum object_type type, const void *data, size_t len,
		     struct error *err)
{
	struct run *r = ctx;
	const struct pack_idx *idx = &r->pack->pack->idx;
	struct oid oid;
	int ret;

	oid_from_raw(&oid, pack_idx_oid(idx, idx_pos), r->pack->pack->algo);
	ret = check(&r->workers[thread_nr], &oid, type, data, len, err);
	return ret < 0 ? ret : note_packed(r, idx_pos, &oid, type, err);
}

static int on_bad(void *ctx, unsigned thread_nr, uint32_t idx_pos,
		  const struct error *why, struct error *err)
{
	struct run *r = ctx;
	const struct pack *pack = r->pack->pack;
	struct oid oid;

	oid_from_raw(&oid, pack_idx_oid(&pack->idx, idx_pos), pack->algo);
	return say_corrupt(r->scan, &oid, pack, NULL, why, err);
}

/*
 * Checks that the content of a loose object has the object's id. Returns 0, or
 * ERR_CORRUPT with the reason in *why.
 */
static int check_id(struct worker *w, const struct oid *oid,
		    const struct loose_object *obj, struct error *why)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid actual;

	hash_object(&w->hash, &actual, obj->type, obj->data, obj->len);
	if (oid_equal(&actual, oid))
		return hash_refuse_attack(&w->hash, oid, why);
	return error_set(why, ERR_CORRUPT, "%s: hash-path mismatch",
			 oid_to_hex(hex, &actual, w->scan->rules->algo));
}

static int read_loose(struct worker *w, const struct oid *oid, const char *path,
		      struct loose_object *obj, struct error *why)
{
	struct sys_map map;
	int ret = sys_map_open(&map, path, why);

	if (ret < 0)
		return ret;
	if (!map.len)
		ret = error_set(why, ERR_CORRUPT, "object file %s is empty",
				path);
	else
		ret = loose_read(obj, w->inflater, map.data, map.len, path,
				 why);
	sys_map_close(&map);
	if (!ret)
		ret = check_id(w, oid, obj, why);
	return ret;
}

static int check_loose(void *ctx, const struct oid *oid, const char *path)
{
	struct worker *w = ctx;
	struct loose_object obj = {OBJ_NONE, NULL, 0, NULL};
	struct error why = ERROR_INIT;
	int ret = read_loose(w, oid, path, &obj, &why);

	if (ret == ERR_NOMEM)
		ret = error_nomem(w->err);
	else if (ret < 0)
		ret = say_corrupt(w->scan, oid, NULL, path, &why, w->err);
	else
		ret = check(w, oid, obj.type, obj.data, obj.len, w->err);
	if (ret >= 0 && obj.data && !why.code)
		ret = note_object(w->scan, oid, obj.type, w->err);
	free(obj.memory);
	return ret < 0 ? ret : 0;
}

/* ---- packs */

/* The two readers that read_slowly() uses. */
struct slow_readers {
	struct pack_reader *plain;
	/*
	 * Reads an object whose base is damaged in this pack, with another copy
	 * of the base. This reader has no cache. A cached copy would hide the
	 * damage when the base itself is checked.
	 */
	struct odb_reader *spare;
};

static int read_one(struct run *r, const struct slow_readers *readers,
		    uint32_t idx_pos, struct pack_reader **used,
		    struct pack_object *obj, struct error *why)
{
	struct pack *pack = r->pack->pack;
	uint64_t offset = pack_idx_offset(&pack->idx, idx_pos);
	int ret = pack_reader_read(readers->plain, pack, offset, obj, why);

	*used = readers->plain;
	if (ret != ERR_CORRUPT)
		return ret;
	*used = odb_reader_pack(readers->spare);
	ret = pack_reader_read(*used, pack, offset, obj, NULL);
	if (!ret)
		*why = (struct error)ERROR_INIT;
	return ret;
}

static int check_one(struct run *r, const struct slow_readers *readers,
		     uint32_t idx_pos, struct error *err)
{
	struct pack *pack = r->pack->pack;
	struct hash_ctx *hash = &r->workers[0].hash;
	struct error why = ERROR_INIT;
	struct pack_reader *used;
	struct pack_object obj;
	struct oid oid, actual;
	int ret;

	oid_from_raw(&oid, pack_idx_oid(&pack->idx, idx_pos), pack->algo);
	if (!read_one(r, readers, idx_pos, &used, &obj, &why)) {
		hash_object(hash, &actual, obj.type, obj.data, obj.len);
		if (!oid_equal(&oid, &actual))
			error_set(&why, ERR_CORRUPT, "object has another id");
		else
			hash_refuse_attack(hash, &oid, &why);
	}
	ret = why.code ? on_bad(r, 0, idx_pos, &why, err)
		       : on_packed(r, 0, idx_pos, obj.type, obj.data, obj.len,
				   err);
	pack_object_release(used, &obj);
	return ret;
}

/*
 * Reads a pack object by object. Used if its delta chains cannot be
 * determined. Returns 0, a negative result of a callback, or another negative
 * error code.
 */
static int read_slowly(struct run *r, struct error *err)
{
	struct slow_readers readers = {
		.plain = pack_reader_new(16 << 20),
		.spare = odb_reader_new(r->scan->space->odb, 0),
	};
	int ret = readers.plain && readers.spare ? 0 : error_nomem(err);

	for (uint32_t i = 0; !ret && i < r->pack->pack->idx.nr; i++)
		ret = check_one(r, &readers, i, err);
	pack_reader_free(readers.plain);
	odb_reader_free(readers.spare);
	return ret;
}

static int scan_pack(struct run *r, struct error *err)
{
	const struct pack_verify_hooks hooks = {on_packed, on_bad, r};
	struct pack_chains chains;
	int ret = pack_chains_init(&chains, r->pack->pack, err);

	if (ret == ERR_NOMEM)
		return ret;
	if (ret < 0)
		return read_slowly(r, err);
	ret = pack_verify_objects(&chains, r->threads, &hooks, err);
	pack_chains_release(&chains);
	return ret;
}

static int list_pack(struct run *r, struct error *err)
{
	struct pack *pack = r->pack->pack;
	struct odb_reader *odb_reader = odb_reader_new(r->scan->space->odb,
						       (size_t)1 << 20);
	struct pack_reader *reader = odb_reader ? odb_reader_pack(odb_reader)
						: NULL;
	int ret = reader ? 0 : error_nomem(err);

	for (uint32_t i = 0; !ret && i < pack->idx.nr; i++) {
		enum object_type type;
		struct oid oid;

		oid_from_raw(&oid, pack_idx_oid(&pack->idx, i), pack->algo);
		if (!pack_reader_info(reader, pack,
				      pack_idx_offset(&pack->idx, i), &type,
				      NULL, NULL))
			ret = note_packed(r, i, &oid, type, err);
	}
	odb_reader_free(odb_reader);
	return ret;
}

/* ---- loose objects */

static int list_loose(void *ctx, const struct oid *oid, const char *path)
{
	struct worker *w = ctx;
	struct loose_header header;
	enum object_type type = FSCK_UNKNOWN;
	struct sys_map map;

	if (!sys_map_open(&map, path, NULL)) {
		if (!loose_info(&header, w->inflater, map.data, map.len, path,
				NULL))
			type = header.type;
		sys_map_close(&map);
	}
	return note_object(w->scan, oid, type, w->err);
}

static int loose_task(void *ctx, unsigned thread_nr, size_t task_nr,
		      struct error *err)
{
	struct run *r = ctx;
	struct worker *w = &r->workers[thread_nr];

	w->err = err;
	return odb_each_loose_with(r->scan->space->odb, (uint8_t)task_nr,
				   r->list_only ? list_loose : check_loose, w,
				   err);
}

static int scan_loose(struct run *r, struct error *err)
{
	struct progress meter;
	int ret;

	progress_start(&meter, r->list_only ? NULL : r->scan->progress,
		       "Checking object directories", LOOSE_TASKS);
	ret = sys_parallel(r->threads, LOOSE_TASKS, loose_task, r, err);
	progress_set(&meter, LOOSE_TASKS);
	progress_stop(&meter);
	return ret;
}

/* ---- all objects */

static int worker_init(struct worker *w, struct fsck_scan *scan)
{
	w->scan = scan;
	fsck_init(&w->fsck, scan->rules);
	w->fsck.report = on_report;
	w->fsck.found = on_found;
	w->fsck.ctx = w;
	w->inflater = inflater_new();
	if (!w->inflater)
		return ERR_NOMEM;
	return hash_init_checked(&w->hash, scan->rules->algo);
}

static void worker_release(struct worker *w)
{
	fsck_release(&w->fsck);
	inflater_free(w->inflater);
	hash_release(&w->hash);
}

static int prepare(struct run *r)
{
	struct fsck_scan *scan = r->scan;
	uint32_t packed_nr = scan->space->packed_nr;
	int ret = 0;

	r->threads = scan->threads ? scan->threads : sys_cpu_nr();
	r->workers = mem_calloc(r->threads, sizeof(*r->workers));
	if (!r->workers || mem_grow(&scan->types, &scan->type_alloc,
				    (size_t)packed_nr + 1, 1) < 0)
		return ERR_NOMEM;
	memset(scan->types, OBJ_NONE, scan->type_alloc);
	scan->type_nr = packed_nr;
	scan->has_checked = scan->loose_only && !r->list_only;
	scan->is_list = r->list_only;
	for (unsigned i = 0; !ret && i < r->threads; i++)
		ret = worker_init(&r->workers[i], scan);
	return ret;
}

static int run(struct run *r, struct error *err)
{
	const struct odb *odb = r->scan->space->odb;
	/*
	 * List the objects in packs even if packs are not checked. Otherwise
	 * links to these objects would seem to be broken.
	 */
	bool list_packs = r->list_only || r->scan->loose_only;
	int ret = prepare(r);

	if (ret < 0)
		error_nomem(err);
	progress_start(&r->meter,
		       list_packs || !odb->pack_nr ? NULL : r->scan->progress,
		       "Checking objects", odb->packed_nr);
	for (uint32_t i = 0; !ret && i < odb->pack_nr; i++) {
		r->pack = &odb->packs[i];
		ret = list_packs ? list_pack(r, err) : scan_pack(r, err);
	}
	progress_stop(&r->meter);
	/*
	 * Loose objects are not part of the progress: their meter has no
	 * output.
	 */
	progress_start(&r->meter, NULL, NULL, 0);
	if (!ret)
		ret = scan_loose(r, err);
	for (unsigned i = 0; r->workers && i < r->threads; i++)
		worker_release(&r->workers[i]);
	free(r->workers);
	return ret;
}

int fsck_scan_run(struct fsck_scan *scan, struct error *err)
{
	struct run r = {.scan = scan};

	return run(&r, err);
}

int fsck_scan_list(struct fsck_scan *scan, struct error *err)
{
	struct run r = {.scan = scan, .list_only = true};

	return run(&r, err);
}
