/* SPDX-License-Identifier: MIT */
/*
 * The object database: a snapshot of all packs of a repository and its
 * alternates, and its loose objects.
 *
 * `odb_pos` numbers packed objects across the snapshot: pack p holds the
 * positions [packs[p].first_pos, packs[p].first_pos + nr), in idx order.
 * Packs are ordered local before alternates, then newest first, so that the
 * order is stable for one state of the disk.
 *
 * An object in several packs has several positions; odb_find() always answers
 * with the same one, its canonical position: that of the first source that has
 * it. Sources are the local multi-pack-index, local packs that it does not
 * cover in snapshot order, the alternates' multi-pack-indexes, and their packs
 * likewise; each layer of a chain is one, the lowest first. A multi-pack-index
 * stands for all its packs; of an object in several of them it has chosen one,
 * and that copy's position counts.
 *
 * A snapshot is immutable and shared; an `odb_reader` is per thread. Loose
 * objects are looked for on disk each time, and what is nowhere to be found in
 * packs that came after the snapshot: loose objects get packed while it is in
 * use. Such an object has no position, as a loose one has none.
 *
 * The empty tree is built in: odb_has(), odb_read() and the functions that
 * build on them find the empty tree, stored or not. Functions that list or
 * position objects know stored objects only.
 */
#ifndef ODB_ODB_H
#define ODB_ODB_H

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
	struct pack *pack;  /* owned by the snapshot */
	uint32_t first_pos; /* odb_pos of its idx_pos 0 */
};

struct odb_midx;     /* odb/odb-midx.h */
struct odb_replaced; /* odb/replaced.h */

/* What is searched for an id: a multi-pack-index, or a pack without one. */
struct odb_source {
	const struct pack_ids *ids; /* borrowed: its ids */
	struct odb_midx *midx;      /* borrowed from the snapshot, or NULL */
	uint32_t first_pos;         /* of a pack: odb_pos of its idx_pos 0 */
};

struct odb {
	const struct repo *repo; /* borrowed */
	enum hash_algo algo;
	char **dirs; /* owned: object directories, local first */
	size_t dir_nr;
	int64_t *pack_mtimes;   /* owned: when each directory's packs had last
				   changed, nanoseconds since 1970 */
	struct odb_pack *packs; /* owned */
	uint32_t pack_nr;
	uint32_t packed_nr;         /* objects in all packs: end of odb_pos */
	bool warns_of_midx;         /* the warning is of a multi-pack-index: no
				       object is out of reach */
	bool use_midx;              /* core.multiPackIndex */
	bool named_only;            /* see odb_open_named() */
	bool read_rev;              /* pack.readReverseIndex */
	size_t held_max;            /* packs that are not mapped at once */
	int64_t max_tree_depth;     /* core.maxTreeDepth */
	struct odb_midx **midxes;   /* owned: by directory, of a chain the top
				       layer; NULL: it has none */
	struct odb_source *sources; /* owned: in the order of search */
	uint32_t source_nr;
	struct odb_replaced *replaced; /* owned; NULL: objects are read as they
					  are */
};

/* The largest core.maxTreeDepth, and the default: as deep as stacks allow. */
#define ODB_MAX_TREE_DEPTH 2048

/* What to say of a tree that is too deep. */
#define ODB_TOO_DEEP "exceeded maximum allowed tree depth"

/* Whether a tree is not to be entered: a commit's own tree is at depth 0. */
static inline bool odb_is_too_deep(const struct odb *odb, unsigned depth)
{
	return depth > odb->max_tree_depth;
}

/*
 * Open a snapshot. Alternates come from info/alternates (nested, at most 5
 * deep, relative paths resolved, cycles and missing directories skipped as
 * stock Git does) and GIT_ALTERNATE_OBJECT_DIRECTORIES (':'-separated, with
 * quoting). A pack without index is ignored; a broken pack is left out, and so
 * is a multi-pack-index that is broken or names packs that are not there; that
 * is described in *warning (NULL allowed; ->code is 0 when there was none).
 * core.multiPackIndex=false: none is used.
 * Returns 0 with *out owned by the caller, or a negative error.
 */
int odb_open(struct odb **out, const struct repo *repo, struct error *warning,
	     struct error *err);

/*
 * As odb_open() for a command that looks into few of many packs: up to
 * sys_held_max() are mapped when they are read, and take a descriptor each
 * until then (sys/held.h). What odb_open() opens takes none. A pack that goes
 * meanwhile is there to the end in either case.
 */
int odb_open_held(struct odb **out, const struct repo *repo,
		  struct error *warning, struct error *err);

/*
 * As odb_open() for those who remove what packs have, or leave it out of a new
 * one, or judge by packs whether it is time for that: without packs whose names
 * start with a dot. Such a one is of a repack of stock Git that has yet to name
 * it, and goes when that fails; or stays when that is killed.
 */
int odb_open_named(struct odb **out, const struct repo *repo,
		   struct error *warning, struct error *err);

/*
 * As odb_open_named() for those who remove what they do not find: a pack that
 * cannot be read may hold what is needed, and is an error. A multi-pack-index
 * that is left out is not: all is found without it.
 */
int odb_open_whole(struct odb **out, const struct repo *repo,
		   struct error *err);

/*
 * As odb_open() by the packs' own indexes alone, for those who check what a
 * multi-pack-index says: what it does not know is found.
 */
int odb_open_packs(struct odb **out, const struct repo *repo,
		   struct error *warning, struct error *err);
void odb_close(struct odb *odb);

/*
 * Whether packs or a multi-pack-index came or went since the snapshot was
 * taken. A change within the same tick of the file system's clock (some
 * milliseconds) is not seen.
 */
bool odb_has_changed(const struct odb *odb);

/* Canonical position of a packed object; false when no pack has it. */
bool odb_find_raw(const struct odb *odb, const uint8_t *raw, uint32_t *odb_pos);

static inline bool odb_find(const struct odb *odb, const struct oid *oid,
			    uint32_t *odb_pos)
{
	return odb_find_raw(odb, oid->bytes, odb_pos);
}

/*
 * The position of what a search of source->ids has found; false when a
 * multi-pack-index is wrong about it.
 */
bool odb_source_pos(const struct odb *odb, const struct odb_source *source,
		    uint32_t ids_pos, uint32_t *odb_pos);

/* Which pack, and where in it. odb_pos < packed_nr. */
const struct odb_pack *odb_locate(const struct odb *odb, uint32_t odb_pos,
				  uint32_t *idx_pos);

/* Offset of the object in its pack. */
uint64_t odb_offset(const struct odb *odb, uint32_t odb_pos,
		    struct pack **pack);

/* Raw id of a packed object; points into the index. */
const uint8_t *odb_oid_raw(const struct odb *odb, uint32_t odb_pos);
void odb_oid(struct oid *out, const struct odb *odb, uint32_t odb_pos);

/* Whether the object is stored, in the snapshot's packs or loose. */
bool odb_stores(const struct odb *odb, const struct oid *oid);

/* Whether the object can be read: as odb_stores(), or the empty tree. */
bool odb_has(const struct odb *odb, const struct oid *oid);

/* Whether it is there as a loose object. */
bool odb_has_loose(const struct odb *odb, const struct oid *oid);

/*
 * Visit every loose object of the local object directory (`local_only`) or of
 * all. A nonzero return stops and is returned.
 */
int odb_each_loose(const struct odb *odb, bool local_only,
		   int (*fn)(void *ctx, const struct oid *oid,
			     const char *path),
		   void *ctx, struct error *err);

/* As odb_each_loose() for all directories and ids with this first byte. */
int odb_each_loose_with(const struct odb *odb, uint8_t first,
			int (*fn)(void *ctx, const struct oid *oid,
				  const char *path),
			void *ctx, struct error *err);

/* Path of a loose object in directory `dir`; 0 or ERR_NOMEM. */
int odb_loose_path(struct buf *out, const struct odb *odb, const char *dir,
		   const struct oid *oid);

struct odb_reader;

/* A reader for one thread; `cache_limit` as for pack_reader_new(). */
struct odb_reader *odb_reader_new(const struct odb *odb, size_t cache_limit);
void odb_reader_free(struct odb_reader *reader);

/* As odb_has(), and looks into packs that came after the snapshot. */
bool odb_reader_has(struct odb_reader *reader, const struct oid *oid);

/* The reader for packs inside, for what looks at stored entries. */
struct pack_reader *odb_reader_pack(struct odb_reader *reader);

/* A decoded object; see struct pack_object. Release with odb_object_release. */
struct odb_object {
	enum object_type type;
	const uint8_t *data; /* NUL-terminated past len */
	size_t len;
	void *pin;   /* the reader's */
	void *loose; /* the reader's: memory of a loose object */
};

#define ODB_OBJECT_INIT                                                        \
	{                                                                      \
		OBJ_NONE, NULL, 0, NULL, NULL                                  \
	}

/*
 * Read a packed object: this copy. 0 or negative with *obj zeroed. As in all
 * reads, another copy of a damaged delta base is used if there is one.
 */
int odb_read_pos(struct odb_reader *reader, uint32_t odb_pos,
		 struct odb_object *obj, struct error *err);

/*
 * Read any object by id. When the packed copy is corrupt, other copies are
 * tried. ERR_MISSING when there is none. What is replaced (odb/replaced.h) is
 * not read itself, here and in odb_info(), nor when it is looked for by id.
 */
int odb_read(struct odb_reader *reader, const struct oid *oid,
	     struct odb_object *obj, struct error *err);
void odb_object_release(struct odb_reader *reader, struct odb_object *obj);

/*
 * As odb_read(), and a copy counts as damaged if its content has another id, or
 * its entry or that of a base another CRC-32 than the index says. Slower: for
 * an object one of whose copies was found damaged.
 */
int odb_read_sound(struct odb_reader *reader, const struct oid *oid,
		   struct odb_object *obj, struct error *err);

/* Type and size without decoding the object. Outputs may be NULL. */
int odb_info_pos(struct odb_reader *reader, uint32_t odb_pos,
		 enum object_type *type, uint64_t *size, struct error *err);
int odb_info(struct odb_reader *reader, const struct oid *oid,
	     enum object_type *type, uint64_t *size, struct error *err);

/*
 * All objects whose id starts with `hex_len` digits (>= 4) of `prefix`:
 * *found gets one; returns how many there are, counting stops at 2.
 */
int odb_find_abbrev(const struct odb *odb, const struct oid *prefix,
		    size_t hex_len, struct oid *found, struct error *err);

/*
 * Visit the ids that start with `hex_len` digits of `prefix`, packed and then
 * loose ones. An object that is there more than once is visited more than
 * once. A nonzero return stops and is returned.
 */
int odb_each_abbrev(const struct odb *odb, const struct oid *prefix,
		    size_t hex_len, int (*fn)(void *ctx, const struct oid *oid),
		    void *ctx, struct error *err);

/*
 * Least number of digits, at least `min_len`, that tell an id from all others
 * (it need not be there itself). Or a negative error.
 */
int odb_unique_len(const struct odb *odb, const struct oid *oid, size_t min_len,
		   struct error *err);

/* Follow tags to what they name at last; *type gets its type. */
int odb_peel(struct odb_reader *reader, const struct oid *oid,
	     struct oid *peeled, enum object_type *type, struct error *err);

#endif
