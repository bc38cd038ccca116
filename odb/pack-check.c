/* SPDX-License-Identifier: MIT */
/*
 * Checks the objects of a received pack: whether they are well-formed, and
 * whether all linked objects exist.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "object/links.h"
#include "odb/pack-check.h"
#include "pack/reader.h"

/*
 * Number of parts of the set of ids. Each part has a lock. With so many locks,
 * two threads seldom wait for the same lock.
 */
#define SHARD_NR 64

/* maximum number of bytes of cached delta bases */
enum { CACHE_LIMIT = 32 << 20 };

/*
 * A part of the set of ids, with its lock. The first byte of an id determines
 * its part.
 */
struct shard {
	pthread_mutex_t lock; /* guards the map */
	/*
	 * Maps an id to a number. The lowest 8 bits of the number are the type
	 * of the object, or OBJ_NONE if the pack does not have the object. The
	 * higher bits tell which types links require: NAMED_AS(type) is set if
	 * some link to the object states this type.
	 */
	struct oidmap ids;
};

#define NAMED_AS(type) (UINT32_C(1) << (8 + (type)))
#define TYPE_OF(value) ((value)&0xff)
#define NAMED (~UINT32_C(0xff))

struct pack_check {
	struct pack_check_options o;
	/* owned array, indexed by thread_nr: the fsck state of each thread */
	struct fsck *fscks;
	/*
	 * ids of .gitmodules and .gitattributes files, which are checked after
	 * all other objects
	 */
	struct fsck_blobs blobs;
	pthread_mutex_t report_lock; /* held during a report */
	/*
	 * ids of commits of the shallow boundary, whose parents need not exist
	 */
	struct oidmap boundary;
	struct shard shards[SHARD_NR];
};

/* ---- reports of fsck */

static int on_report(void *ctx, const struct fsck_report *report,
		     struct error *err)
{
	struct pack_check *check = ctx;
	int ret;

	pthread_mutex_lock(&check->report_lock);
	ret = check->o.report(check->o.ctx, report, err);
	pthread_mutex_unlock(&check->report_lock);
	return ret;
}

static int on_found(void *ctx, const struct oid *oid, enum fsck_special special,
		    struct error *err)
{
	struct pack_check *check = ctx;

	return fsck_blobs_add(&check->blobs, oid, special, err);
}

static int malformed(struct error *err)
{
	return error_set(err, ERR_CORRUPT, "fsck error in packed object");
}

/* ---- links of objects */

static int note(struct pack_check *check, const struct oid *oid, uint32_t bits,
		struct error *err)
{
	struct shard *shard = &check->shards[oid->bytes[0] % SHARD_NR];
	uint32_t value = 0;
	int ret = 0;

	pthread_mutex_lock(&shard->lock);
	oidmap_get(&shard->ids, oid, &value);
	if ((value | bits) != value)
		ret = oidmap_put(&shard->ids, oid, value | bits);
	pthread_mutex_unlock(&shard->lock);
	return ret < 0 ? error_nomem(err) : 0;
}

static int note_link(void *ctx, const struct oid *to, enum object_type type,
		     struct error *err)
{
	return note(ctx, to, NAMED_AS(type), err);
}

/*
 * Records a link of a commit on the shallow boundary, unless the link is to a
 * parent: the parents of such a commit need not exist. Returns 0 or a negative
 * error code.
 */
static int note_tree(void *ctx, const struct oid *to, enum object_type type,
		     struct error *err)
{
	return type == OBJ_COMMIT ? 0 : note_link(ctx, to, type, err);
}

int pack_check_add_boundary(void *ctx, const struct oid *oid)
{
	struct pack_check *check = ctx;

	return oidmap_put(&check->boundary, oid, 0) < 0 ? ERR_NOMEM : 0;
}

int pack_check_object(void *ctx, unsigned thread_nr, const struct oid *oid,
		      enum object_type type, const void *data, size_t len,
		      struct error *err)
{
	struct pack_check *check = ctx;
	uint32_t value;
	int ret = 0;

	if (check->o.rules && type != OBJ_BLOB)
		ret = fsck_object(&check->fscks[thread_nr], oid, type, data,
				  len, err);
	if (ret > 0)
		return malformed(err);
	if (!ret && check->o.links)
		ret = note(check, oid, (uint32_t)type, err);
	if (!ret && check->o.links)
		ret = object_links_each(
			type, data, len, check->o.algo,
			type == OBJ_COMMIT && oidmap_get(&check->boundary, oid,
							 &value)
				? note_tree
				: note_link,
			check, err);
	return ret;
}

/* ---- checks after the last object of the pack */

/*
 * A reader of blobs from the received pack, or from the repository if the pack
 * does not have them.
 */
struct reader {
	struct pack_indexer *ix;
	const struct pack_indexer_hooks *known;
	void (*missing)(void *ctx, const struct oid *oid);
	void *ctx;
	struct pack *pack;           /* owned; NULL until the first read */
	struct pack_reader *objects; /* owned; NULL until the first read */
	/* the blob that was read last: one of the two is set */
	struct pack_object packed;
	void *data; /* owned */
};

static int reader_open(struct reader *r, struct error *err)
{
	if (r->pack)
		return 0;
	r->objects = pack_reader_new(CACHE_LIMIT);
	return r->objects ? pack_indexer_open_pack(&r->pack, r->ix, err)
			  : error_nomem(err);
}

/* Releases the blob that was read last. */
static void reader_reset(struct reader *r)
{
	if (r->objects)
		pack_object_release(r->objects, &r->packed);
	r->packed = (struct pack_object)PACK_OBJECT_INIT;
	free(r->data);
	r->data = NULL;
}

static void reader_release(struct reader *r)
{
	reader_reset(r);
	pack_reader_free(r->objects);
	pack_close(r->pack);
}

static int read_packed(struct reader *r, uint32_t idx_pos,
		       enum object_type *type, const void **data, size_t *len,
		       struct error *err)
{
	int ret = pack_reader_read(r->objects, r->pack,
				   pack_idx_offset(&r->pack->idx, idx_pos),
				   &r->packed, err);

	*type = r->packed.type;
	*data = r->packed.data;
	*len = r->packed.len;
	return ret < 0 ? ret : 1;
}

static int read_blob(void *ctx, const struct oid *oid, enum object_type *type,
		     const void **data, size_t *len, struct error *err)
{
	struct reader *r = ctx;
	uint32_t idx_pos;
	int ret = reader_open(r, err);

	if (ret < 0)
		return ret;
	reader_reset(r);
	if (pack_idx_find(&r->pack->idx, oid->bytes, &idx_pos))
		return read_packed(r, idx_pos, type, data, len, err);
	if (r->known->base)
		ret = r->known->base(r->known->ctx, oid, type, &r->data, len,
				     err);
	*data = r->data;
	return ret;
}

static bool leave_missing(void *ctx, const struct oid *oid)
{
	const struct reader *r = ctx;

	if (r->missing)
		r->missing(r->ctx, oid);
	return r->missing != NULL;
}

int pack_check_blobs(struct pack_check *check, struct pack_indexer *ix,
		     const struct pack_indexer_hooks *known,
		     void (*missing)(void *ctx, const struct oid *oid),
		     void *ctx, struct error *err)
{
	struct reader r = {
		.ix = ix,
		.known = known,
		.missing = missing,
		.ctx = ctx,
		.packed = PACK_OBJECT_INIT,
	};
	const struct fsck_blobs_source source = {read_blob, leave_missing, &r};
	int ret;

	if (!check->o.rules)
		return 0;
	ret = fsck_blobs_check(&check->blobs, &check->fscks[0], &source, err);
	reader_release(&r);
	return ret > 0 ? malformed(err) : ret;
}

/*
 * Returns 1 if the repository has an object, 0 if not, or a negative error
 * code. known->has knows the packs of some time ago. A repack may have moved a
 * loose object into a newer pack since then, so known->base, which also opens
 * newer packs, is asked last.
 */
static int is_stored(const struct pack_indexer_hooks *known,
		     const struct oid *oid, struct error *err)
{
	int ret = known->has ? known->has(known->ctx, 0, oid, err) : 0;
	enum object_type type;
	void *data;
	size_t len;

	if (ret || !known->base)
		return ret;
	ret = known->base(known->ctx, oid, &type, &data, &len, err);
	if (ret > 0)
		free(data);
	return ret;
}

/*
 * Checks that a linked object exists and has the required type. If the pack
 * does not have the object, sets *is_self_contained to false. Returns 0,
 * ERR_MISSING, ERR_CORRUPT if the type differs, or another negative error
 * code.
 */
static int check_named(const struct pack_check *check,
		       const struct oidmap_entry *named,
		       const struct pack_indexer_hooks *known,
		       bool *is_self_contained, struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	uint32_t type = TYPE_OF(named->value);
	int ret;

	oid_to_hex(hex, &named->oid, check->o.algo);
	if (type) {
		if ((named->value & NAMED & ~NAMED_AS(type)) == 0)
			return 0;
		return error_set(err, ERR_CORRUPT,
				 "object %s: expected type differs from %s",
				 hex, object_type_name(type));
	}
	*is_self_contained = false;
	/*
	 * A link to the empty tree is always satisfied: the object database has
	 * this tree built in.
	 */
	if (oid_equal(&named->oid, oid_empty_tree(check->o.algo)))
		return 0;
	ret = is_stored(known, &named->oid, err);
	if (ret)
		return ret < 0 ? ret : 0;
	return error_set(err, ERR_MISSING, "did not receive expected object %s",
			 hex);
}

int pack_check_links(struct pack_check *check,
		     const struct pack_indexer_hooks *known,
		     bool *is_self_contained, struct error *err)
{
	const struct oidmap_entry *wrong = NULL;
	int ret = 0;

	*is_self_contained = true;
	/*
	 * The map has no order. If several objects are wrong, the one with the
	 * least id is reported, so that the message is the same each time.
	 */
	for (size_t s = 0; s < SHARD_NR; s++) {
		const struct oidmap *ids = &check->shards[s].ids;

		for (size_t i = 0; i < ids->slot_nr; i++) {
			const struct oidmap_entry *e = &ids->slots[i];
			int why;

			if (!e->used || !(e->value & NAMED) ||
			    (wrong && oid_cmp(&e->oid, &wrong->oid) > 0))
				continue;
			why = check_named(check, e, known, is_self_contained,
					  err);
			if (why < 0) {
				wrong = e;
				ret = why;
			}
		}
	}
	return ret;
}

struct pack_check *pack_check_new(const struct pack_check_options *options)
{
	struct pack_check *check = mem_calloc(1, sizeof(*check));

	if (!check)
		return NULL;
	check->o = *options;
	check->fscks = mem_calloc(options->threads, sizeof(*check->fscks));
	if (!check->fscks) {
		free(check);
		return NULL;
	}
	for (unsigned i = 0; i < options->threads; i++) {
		fsck_init(&check->fscks[i], options->rules);
		check->fscks[i].report = on_report;
		check->fscks[i].found = on_found;
		check->fscks[i].ctx = check;
	}
	fsck_blobs_init(&check->blobs);
	pthread_mutex_init(&check->report_lock, NULL);
	for (size_t i = 0; i < SHARD_NR; i++)
		pthread_mutex_init(&check->shards[i].lock, NULL);
	return check;
}

void pack_check_free(struct pack_check *check)
{
	if (!check)
		return;
	for (unsigned i = 0; i < check->o.threads; i++)
		fsck_release(&check->fscks[i]);
	free(check->fscks);
	fsck_blobs_release(&check->blobs);
	oidmap_release(&check->boundary);
	pthread_mutex_destroy(&check->report_lock);
	for (size_t i = 0; i < SHARD_NR; i++) {
		oidmap_release(&check->shards[i].ids);
		pthread_mutex_destroy(&check->shards[i].lock);
	}
	free(check);
}
