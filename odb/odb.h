/* SPDX-License-Identifier: MIT */
/*
 * The object database: a snapshot of all packs of a repository and its
 * alternates, and its loose objects.
 *
 * `odb_pos` numbers the packed objects of a snapshot. Pack p has the positions
 * [packs[p].first_pos, packs[p].first_pos + nr), in idx order. Local packs come
 * before packs of alternates, and newer packs before older ones. So the order
 * is the same each time for one state of the disk.
 *
 * An object in several packs has several positions. odb_find() always returns
 * the same position, the canonical one: its position in the first source that
 * has the object. Sources are searched in this order:
 *
 * - the local multi-pack-index,
 * - local packs that no multi-pack-index covers, in the order of the snapshot,
 * - the multi-pack-indexes of alternates,
 * - packs of alternates that no multi-pack-index covers.
 *
 * In a chain of multi-pack-indexes, each layer is a source, the lowest layer
 * first. A multi-pack-index represents all its packs. If an object is in
 * several of these packs, the multi-pack-index has chosen one. The position in
 * the chosen pack is the canonical one.
 *
 * A snapshot is immutable and shared; each thread has its own `odb_reader`.
 * Loose objects are looked up on disk each time. While a snapshot is in use,
 * its loose objects may be packed. So an object that is not found is also
 * looked up in packs that are newer than the snapshot. Such an object has no
 * position, and neither has a loose object.
 *
 * The empty tree is built in. odb_has(), odb_read() and the functions that use
 * them find the empty tree even if it is not stored. Functions that list
 * objects, or give them positions, know only stored objects.
 *
 * In a partial clone, objects that a remote has promised may be missing. A
 * caller can set a provider, which makes such objects available when they are
 * read (odb_set_provider()). Without a provider these objects stay missing.
 */
#ifndef ODB_ODB_H
#define ODB_ODB_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "object/oid.h"
#include "object/type.h"
#include "pack/pack.h"
#include "pack/reader.h"
#include "repo/repo.h"

struct odb_pack {
	struct pack *pack; /* owned by the snapshot */
	/* odb_pos of the first object in the index of the pack */
	uint32_t first_pos;
};

struct odb_midx;     /* odb/odb-midx.h */
struct odb_replaced; /* odb/replaced.h */

/*
 * A sorted table of ids to search: the table of a multi-pack-index, or of a
 * pack that no multi-pack-index covers.
 */
struct odb_source {
	/* borrowed: the table of ids */
	const struct pack_ids *ids;
	/*
	 * the multi-pack-index, borrowed from the snapshot; NULL if the source
	 * is a pack
	 */
	struct odb_midx *midx;
	/*
	 * if the source is a pack: the odb_pos of the first object in its index
	 */
	uint32_t first_pos;
};

/*
 * A provider makes missing objects available, for example by a fetch from the
 * remote that promised them. Its callback may start processes. The library
 * never sets a provider by itself.
 */
struct odb_provider {
	/*
	 * Tries to store `nr` objects in the repository, in packs or loose.
	 * Calls for one snapshot do not overlap, but may come from any thread.
	 * Returns 0 if the readers should look for the objects again,
	 * ERR_MISSING if the objects stay missing, or another negative error
	 * code, which ends the read.
	 */
	int (*provide)(void *ctx, const struct oid *oids, size_t nr,
		       struct error *err);
	void *ctx;
	/*
	 * true: only odb_reader_provide() calls provide(), never a read of one
	 * object
	 */
	bool batches_only;
};

struct odb {
	const struct repo *repo; /* borrowed */
	enum hash_algo algo;
	/* owned: paths of object directories, the local one first */
	char **dirs;
	size_t dir_nr;
	/*
	 * owned: time of the last change of each pack directory, in nanoseconds
	 * since 1970
	 */
	int64_t *pack_mtimes;
	struct odb_pack *packs; /* owned */
	uint32_t pack_nr;
	/* number of objects in all packs; odb_pos is less than this */
	uint32_t packed_nr;
	/*
	 * true: the warning of odb_open() is about a multi-pack-index only, so
	 * all objects can still be read
	 */
	bool warns_of_midx;
	bool use_midx;   /* core.multiPackIndex */
	bool named_only; /* see odb_open_named() */
	bool read_rev;   /* pack.readReverseIndex */
	/* maximum number of packs that may be open without being mapped yet */
	size_t held_max;
	int64_t max_tree_depth; /* core.maxTreeDepth */
	/*
	 * owned array, indexed by directory: its multi-pack-index, or the top
	 * layer of its chain; NULL: there is none
	 */
	struct odb_midx **midxes;
	/* owned: the tables of ids in the order in which they are searched */
	struct odb_source *sources;
	uint32_t source_nr;
	/* owned: the table of replaced objects; NULL: no object is replaced */
	struct odb_replaced *replaced;
	const struct odb_provider *provider; /* borrowed; NULL: none */
	pthread_mutex_t provider_lock;       /* held during provide() */
};

/*
 * The maximum and the default of core.maxTreeDepth. Recursion into deeper trees
 * could overflow the stack.
 */
#define ODB_MAX_TREE_DEPTH 2048

/* The error message for a tree that is nested too deeply. */
#define ODB_TOO_DEEP "exceeded maximum allowed tree depth"

/*
 * Returns whether a tree is too deep to be entered. The root tree of a commit
 * has depth 0.
 */
static inline bool odb_is_too_deep(const struct odb *odb, unsigned depth)
{
	return depth > odb->max_tree_depth;
}

/*
 * Opens a snapshot. Alternates come from info/alternates and
 * GIT_ALTERNATE_OBJECT_DIRECTORIES (odb/odb-alternates.h). A pack without an
 * index is ignored. A broken pack is left out. A multi-pack-index that is
 * broken or names missing packs is left out. core.multiPackIndex=false leaves
 * out all multi-pack-indexes.
 *
 * *warning describes a broken file that was left out; warning->code is 0 if
 * there is none. `warning` may be NULL. Returns 0 with *out owned by the
 * caller, or a negative error code. One reason for ERR_IO is that packs change
 * too fast: in each of many attempts, a listed pack was removed before it could
 * be opened.
 */
int odb_open(struct odb **out, const struct repo *repo, struct error *warning,
	     struct error *err);

/*
 * Works like odb_open(), for a command that reads few of many packs. Does not
 * map a pack before the pack is read, and until then keeps a file descriptor
 * open for it (sys/map.h). If there are more than sys_held_max() packs, maps
 * the packs beyond this number immediately. A pack that is removed meanwhile
 * stays readable, as after odb_open().
 */
int odb_open_held(struct odb **out, const struct repo *repo,
		  struct error *warning, struct error *err);

/*
 * Works like odb_open(), but without packs whose names start with a dot. A
 * running repack of stock Git makes such packs, and renames or removes them at
 * its end. If the repack is killed, these packs stay. Use this function to
 * decide which packed objects can be removed or left out of a new pack, or
 * whether a repack is due.
 */
int odb_open_named(struct odb **out, const struct repo *repo,
		   struct error *warning, struct error *err);

/*
 * Works like odb_open_named(), for callers that must not overlook an object,
 * for example because they remove packs afterwards. A pack that cannot be read
 * may hold needed objects, so such a pack is an error. An unusable
 * multi-pack-index is only left out, since all objects are found without it.
 */
int odb_open_whole(struct odb **out, const struct repo *repo,
		   struct error *err);

/*
 * Works like odb_open(), but uses only the indexes of packs and no
 * multi-pack-index. This is for callers that check a multi-pack-index: the
 * snapshot also finds objects that the multi-pack-index lacks.
 */
int odb_open_packs(struct odb **out, const struct repo *repo,
		   struct error *warning, struct error *err);
void odb_close(struct odb *odb);

/*
 * Sets the provider that readers of the snapshot ask for missing objects. Call
 * this before objects are read. `provider` must outlive the snapshot. NULL: no
 * provider.
 */
void odb_set_provider(struct odb *odb, const struct odb_provider *provider);

/*
 * Returns whether a pack or a multi-pack-index was added or removed since the
 * snapshot was opened. A change within the same tick of the file system's clock
 * (some milliseconds) is not noticed.
 */
bool odb_has_changed(const struct odb *odb);

/*
 * Finds the canonical position of a packed object. Returns false if no pack has
 * the object.
 */
bool odb_find_raw(const struct odb *odb, const uint8_t *raw, uint32_t *odb_pos);

static inline bool odb_find(const struct odb *odb, const struct oid *oid,
			    uint32_t *odb_pos)
{
	return odb_find_raw(odb, oid->bytes, odb_pos);
}

/*
 * Converts `ids_pos`, a position in source->ids, to an odb_pos. Returns false
 * if the entry of a multi-pack-index is wrong.
 */
bool odb_source_pos(const struct odb *odb, const struct odb_source *source,
		    uint32_t ids_pos, uint32_t *odb_pos);

/*
 * Returns the pack of a position, and the position in its index. Requires
 * odb_pos < packed_nr.
 */
const struct odb_pack *odb_locate(const struct odb *odb, uint32_t odb_pos,
				  uint32_t *idx_pos);

/*
 * Returns the offset of the object at odb_pos in its pack. `pack` may be NULL;
 * otherwise *pack is set to the pack.
 */
uint64_t odb_offset(const struct odb *odb, uint32_t odb_pos,
		    struct pack **pack);

/* Returns the raw id of a packed object, which points into an index. */
const uint8_t *odb_oid_raw(const struct odb *odb, uint32_t odb_pos);
void odb_oid(struct oid *out, const struct odb *odb, uint32_t odb_pos);

/* Returns whether the object is stored, in a pack of the snapshot or loose. */
bool odb_stores(const struct odb *odb, const struct oid *oid);

/*
 * Returns whether the object can be read: it is stored, or is the empty tree.
 */
bool odb_has(const struct odb *odb, const struct oid *oid);

/* Returns whether the object is stored loose. */
bool odb_has_loose(const struct odb *odb, const struct oid *oid);

/*
 * Visits all loose objects. If `local_only`, visits only the loose objects in
 * the local object directory. If fn() returns a nonzero value, the visit stops
 * and returns this value. Otherwise returns 0 or a negative error code.
 */
int odb_each_loose(const struct odb *odb, bool local_only,
		   int (*fn)(void *ctx, const struct oid *oid,
			     const char *path),
		   void *ctx, struct error *err);

/*
 * In all object directories, visits the loose objects whose ids have the first
 * byte `first`. If fn() returns a nonzero value, the visit stops and returns
 * this value. Otherwise returns 0 or a negative error code.
 */
int odb_each_loose_with(const struct odb *odb, uint8_t first,
			int (*fn)(void *ctx, const struct oid *oid,
				  const char *path),
			void *ctx, struct error *err);

/*
 * Appends the path of a loose object in the object directory `dir`. Returns 0
 * or ERR_NOMEM.
 */
int odb_loose_path(struct buf *out, const struct odb *odb, const char *dir,
		   const struct oid *oid);

struct odb_reader;

/*
 * Makes a reader for one thread. `cache_limit` is the limit of bytes for cached
 * delta bases (pack_reader_new()). Returns NULL if memory runs out.
 */
struct odb_reader *odb_reader_new(const struct odb *odb, size_t cache_limit);
void odb_reader_free(struct odb_reader *reader);

/*
 * Returns whether the object can be read, like odb_has(). Also looks into packs
 * that are newer than the snapshot.
 */
bool odb_reader_has(struct odb_reader *reader, const struct oid *oid);

/*
 * Works like odb_reader_has(), but asks the provider (for example a fetch from
 * a promisor remote) for a missing object. Returns 1 if the object exists, 0 if
 * it is missing, or a negative error code.
 */
int odb_reader_need(struct odb_reader *reader, const struct oid *oid,
		    struct error *err);

/*
 * Asks the provider (for example a fetch from a promisor remote) for `nr`
 * objects with one call. The objects should be missing. Does nothing without a
 * provider. Returns 0, whether or not the objects exist now, or a negative
 * error code.
 */
int odb_reader_provide(struct odb_reader *reader, const struct oid *oids,
		       size_t nr, struct error *err);

/*
 * Returns the later snapshot that the reader has opened, if only this snapshot
 * has the object in a pack. In all other cases, returns the snapshot from which
 * the reader was made.
 *
 * Call this after the object was read, to use functions that take a snapshot
 * (odb/odb-stored.h). The reader may replace the later snapshot when an object
 * is in neither snapshot. So do not use the result after further reads.
 */
const struct odb *odb_reader_holder(const struct odb_reader *reader,
				    const struct oid *oid);

/*
 * Returns the pack reader that the reader uses, for callers that look at stored
 * entries.
 */
struct pack_reader *odb_reader_pack(struct odb_reader *reader);

/*
 * A decoded object; see struct pack_object. Release it with
 * odb_object_release().
 */
struct odb_object {
	enum object_type type;
	const uint8_t *data; /* len bytes and a NUL */
	size_t len;
	void *pin; /* private to the reader */
	/*
	 * memory of a loose object; only the functions that this file declares
	 * use this field
	 */
	void *loose;
};

#define ODB_OBJECT_INIT                                                        \
	{                                                                      \
		OBJ_NONE, NULL, 0, NULL, NULL                                  \
	}

/*
 * Reads the copy of a packed object at odb_pos. If a delta base is damaged,
 * another copy of the base is used. Returns 0 or a negative error code. After
 * an error, *obj is zeroed.
 */
int odb_read_pos(struct odb_reader *reader, uint32_t odb_pos,
		 struct odb_object *obj, struct error *err);

/*
 * Reads an object by id. If the packed copy is corrupt, other copies are
 * tried. If there is no copy, the provider of the snapshot is asked. If the
 * object is replaced, its replacement is read (odb/replaced.h). odb_info()
 * treats copies, providers and replacements in this way, too. Returns 0,
 * ERR_MISSING if there is no copy, or another error code.
 */
int odb_read(struct odb_reader *reader, const struct oid *oid,
	     struct odb_object *obj, struct error *err);
void odb_object_release(struct odb_reader *reader, struct odb_object *obj);

/*
 * Verifies that an object that was read has this id. Returns 0, ERR_CORRUPT
 * ("object <id> is corrupt") or ERR_NOMEM. Cost: hashing the bytes.
 */
int odb_object_check_id(const struct odb_object *obj, const struct oid *oid,
			enum hash_algo algo, struct error *err);

/*
 * Works like odb_read(), but verifies more. A copy counts as damaged if its
 * content has another id. A copy also counts as damaged if its CRC-32, or that
 * of one of its delta bases, differs from the index. Use this slower function
 * for an object with a copy that was found damaged.
 */
int odb_read_sound(struct odb_reader *reader, const struct oid *oid,
		   struct odb_object *obj, struct error *err);

/*
 * Find the type and size of an object without decoding it. Both outputs may be
 * NULL. Return 0 or a negative error code.
 */
int odb_info_pos(struct odb_reader *reader, uint32_t odb_pos,
		 enum object_type *type, uint64_t *size, struct error *err);
int odb_info(struct odb_reader *reader, const struct oid *oid,
	     enum object_type *type, uint64_t *size, struct error *err);

/*
 * Visits the ids that start with `hex_len` digits of `prefix`: first the
 * packed objects, then the loose objects. An object with several copies is
 * visited several times. If fn() returns a nonzero value, the visit stops and
 * returns this value. Otherwise returns 0 or a negative error code.
 */
int odb_each_abbrev(const struct odb *odb, const struct oid *prefix,
		    size_t hex_len, int (*fn)(void *ctx, const struct oid *oid),
		    void *ctx, struct error *err);

/*
 * Returns the length of the shortest prefix, at least `min_len`, that
 * distinguishes an id from all other ids. The object itself need not exist.
 * After an error, returns a negative error code.
 */
int odb_unique_len(const struct odb *odb, const struct oid *oid, size_t min_len,
		   struct error *err);

/*
 * Follows a chain of tags to the first object that is not a tag. *type is set
 * to the type of this object. Returns 0 or a negative error code.
 */
int odb_peel(struct odb_reader *reader, const struct oid *oid,
	     struct oid *peeled, enum object_type *type, struct error *err);

/*
 * Works like odb_peel() for a tag, but does not look for the final object,
 * which may be missing. Returns 0, ERR_MISSING if a tag of the chain is
 * missing, or another negative error code.
 */
int odb_peel_tag(struct odb_reader *reader, const struct oid *tag,
		 struct oid *peeled, struct error *err);

/* Whether an object is a tag, as far as odb_find_peeled() can find out. */
enum odb_peeled {
	ODB_PEELED_OTHER, /* the object is not a tag */
	ODB_PEELED_TAG,   /* a tag; the object that it peels to exists */
	/*
	 * unknown: the object, or an object that the tag leads to, is missing
	 * or damaged
	 */
	ODB_PEELED_UNKNOWN,
};

/* Bytes of cache for a reader that only peels tags, which are small. */
#define ODB_PEELED_CACHE_LIMIT ((size_t)1 << 20)

/*
 * Finds the peeled id that a list of refs stores for a ref to `oid`. Sets
 * *peeled if the result is ODB_PEELED_TAG. Returns an enum odb_peeled,
 * ERR_NOMEM, or ERR_IO.
 */
int odb_find_peeled(struct odb_reader *reader, const struct oid *oid,
		    struct oid *peeled, struct error *err);

#endif
