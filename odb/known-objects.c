/* SPDX-License-Identifier: MIT */
/*
 * Callbacks by which the indexer of a pack reads the objects of the repository.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "object/oidmap.h"
#include "odb/freshen.h"
#include "odb/known-objects.h"
#include "odb/odb.h"

/* maximum number of bytes of delta bases that each reader caches */
enum { CACHE_LIMIT = 16 << 20 };

/*
 * The ids of the loose objects of one directory: all ids with the same first
 * byte.
 */
struct fanout {
	atomic_bool is_loaded;
	/*
	 * ids in one of the 256 directories; complete and immutable after
	 * loading
	 */
	struct oidmap ids;
};

struct known_objects {
	struct odb *odb; /* owned */
	unsigned threads;
	/*
	 * Owned: one reader for each thread, and one more for delta bases. A
	 * thread makes its reader when the reader is first needed.
	 */
	struct odb_reader **readers;
	/* held while the ids of a directory of loose objects are loaded */
	pthread_mutex_t lock;
	struct fanout loose[256];
};

int known_objects_open(struct known_objects **out, const struct repo *repo,
		       unsigned threads, struct error *err)
{
	struct known_objects *known = mem_calloc(1, sizeof(*known));
	int ret;

	*out = NULL;
	if (!known)
		return error_nomem(err);
	pthread_mutex_init(&known->lock, NULL);
	known->threads = threads;
	known->readers = mem_calloc((size_t)threads + 1,
				    sizeof(struct odb_reader *));
	ret = known->readers ? odb_open(&known->odb, repo, NULL, err)
			     : error_nomem(err);
	if (ret < 0) {
		known_objects_close(known);
		return ret;
	}
	*out = known;
	return 0;
}

void known_objects_close(struct known_objects *known)
{
	if (!known)
		return;
	for (size_t i = 0; i < ARRAY_NR(known->loose); i++)
		oidmap_release(&known->loose[i].ids);
	for (unsigned i = 0; known->readers && i <= known->threads; i++)
		odb_reader_free(known->readers[i]);
	free(known->readers);
	odb_close(known->odb);
	pthread_mutex_destroy(&known->lock);
	free(known);
}

static int add_loose(void *ctx, const struct oid *oid, const char *path)
{
	int ret = oidmap_add(ctx, oid, 0, NULL);

	return ret < 0 ? ret : 0;
}

/*
 * Lists one of the 256 directories of loose objects, if it was not listed
 * before. Returns 0 or a negative error code.
 */
static int load_fanout(struct known_objects *known, uint8_t first,
		       struct error *err)
{
	struct fanout *f = &known->loose[first];
	int ret = 0;

	pthread_mutex_lock(&known->lock);
	if (!atomic_load(&f->is_loaded))
		ret = odb_each_loose_with(known->odb, first, add_loose, &f->ids,
					  err);
	if (!ret)
		atomic_store(&f->is_loaded, true);
	pthread_mutex_unlock(&known->lock);
	return ret;
}

static int has(void *ctx, unsigned thread_nr, const struct oid *oid,
	       struct error *err)
{
	struct known_objects *known = ctx;
	struct fanout *f = &known->loose[oid->bytes[0]];
	uint32_t unused;
	int ret = 0;

	if (odb_find(known->odb, oid, &unused))
		return 1;
	if (!atomic_load_explicit(&f->is_loaded, memory_order_acquire))
		ret = load_fanout(known, oid->bytes[0], err);
	return ret < 0 ? ret : oidmap_get(&f->ids, oid, &unused);
}

int known_objects_freshen(struct known_objects *known, const struct oid *oid,
			  struct error *err)
{
	int ret = has(known, 0, oid, err);

	return ret > 0 ? freshen_object(known->odb, oid) : ret;
}

static struct odb_reader *reader_of(struct known_objects *known, unsigned nr)
{
	if (!known->readers[nr])
		known->readers[nr] = odb_reader_new(known->odb, CACHE_LIMIT);
	return known->readers[nr];
}

static int compare(void *ctx, unsigned thread_nr, const struct oid *oid,
		   enum object_type type, const void *data, size_t len,
		   struct error *err)
{
	struct known_objects *known = ctx;
	struct odb_reader *reader = reader_of(known, thread_nr);
	struct odb_object obj = ODB_OBJECT_INIT;
	char hex[OID_MAX_HEX_LEN + 1];
	int ret;

	if (!reader)
		return error_nomem(err);
	ret = odb_read(reader, oid, &obj, err);
	/*
	 * If a concurrent gc has removed the existing object, the received
	 * object cannot be compared with it.
	 */
	if (ret == ERR_MISSING)
		return 0;
	if (ret < 0)
		return ret;
	if (obj.type != type || obj.len != len || memcmp(obj.data, data, len))
		ret = error_set(err, ERR_CORRUPT,
				"SHA1 COLLISION FOUND WITH %s !",
				oid_to_hex(hex, oid, known->odb->algo));
	odb_object_release(reader, &obj);
	return ret;
}

static int base(void *ctx, const struct oid *oid, enum object_type *type,
		void **data, size_t *len, struct error *err)
{
	struct known_objects *known = ctx;
	struct odb_reader *reader = reader_of(known, known->threads);
	struct odb_object obj = ODB_OBJECT_INIT;
	int ret;

	if (!reader)
		return error_nomem(err);
	ret = odb_read(reader, oid, &obj, err);
	if (ret == ERR_MISSING)
		return 0;
	if (ret < 0)
		return ret;
	*type = obj.type;
	*len = obj.len;
	*data = mem_strndup((const char *)obj.data, obj.len);
	odb_object_release(reader, &obj);
	return *data ? 1 : error_nomem(err);
}

/*
 * Passes the ids of missing delta bases to the provider (for example a fetch
 * from a promisor remote), in one call. Bases that exist are left out. Returns
 * 0 or a negative error code.
 */
static int announce_bases(void *ctx, const struct oid *oids, size_t nr,
			  struct error *err)
{
	struct known_objects *known = ctx;
	struct odb_reader *reader = reader_of(known, known->threads);
	struct oid *missing;
	size_t missing_nr = 0;
	int ret;

	if (!known->odb->provider)
		return 0;
	missing = mem_alloc(nr, sizeof(*missing));
	if (!reader || !missing) {
		free(missing);
		return error_nomem(err);
	}
	for (size_t i = 0; i < nr; i++)
		if (!odb_reader_has(reader, &oids[i]))
			missing[missing_nr++] = oids[i];
	ret = odb_reader_provide(reader, missing, missing_nr, err);
	free(missing);
	return ret;
}

void known_objects_set_provider(struct known_objects *known,
				const struct odb_provider *provider)
{
	odb_set_provider(known->odb, provider);
}

struct pack_indexer_hooks known_objects_hooks(struct known_objects *known)
{
	return (struct pack_indexer_hooks){
		.base = base,
		.announce_bases = announce_bases,
		.has = has,
		.compare = compare,
		.ctx = known,
	};
}
