/* SPDX-License-Identifier: MIT */
/*
 * Decodes objects of packs: inflates entries and resolves delta chains, with a
 * cache of decoded bases.
 *
 * A reader belongs to one thread. Packs are shared.
 */
#ifndef PACK_READER_H
#define PACK_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "object/oid.h"
#include "object/type.h"
#include "pack/inflate.h"
#include "pack/pack.h"

struct pack_reader;

/*
 * Makes a reader. `cache_limit` is the number of bytes of decoded objects to
 * cache as delta bases, evicted least recently used first. Objects in use do
 * not count. Returns NULL if memory runs out.
 */
struct pack_reader *pack_reader_new(size_t cache_limit);

/* Frees a reader. All objects that it has read must have been released. */
void pack_reader_free(struct pack_reader *reader);

/*
 * Drops cached objects of a pack. Call this before the pack is closed: a reader
 * does not keep packs open, so its cached objects must not outlive their pack.
 */
void pack_reader_forget(struct pack_reader *reader, const struct pack *pack);

/*
 * Another copy of a damaged object, found by a callback of type
 * pack_reader_spare_fn.
 */
struct pack_spare {
	enum object_type type;
	/*
	 * malloc()ed bytes of the object, which the reader frees; NULL: only
	 * the type is known
	 */
	uint8_t *data;
	size_t len;
};

/*
 * Finds another copy of the object `oid`, whose copy at `offset` of `pack` is
 * damaged. `with_data` is false if the caller needs only the type. Returns 0
 * with *spare set, or a negative error code. The function is called in the
 * middle of a read, so it must not use this reader.
 */
typedef int pack_reader_spare_fn(void *ctx, struct pack *pack, uint64_t offset,
				 const struct oid *oid, bool with_data,
				 struct pack_spare *spare);

/*
 * Sets the function that finds another copy of a damaged delta base. From now
 * on the reader applies a delta with a damaged base to such a copy. Before this
 * call, and if `fn` is NULL, a damaged base is ERR_CORRUPT.
 */
void pack_reader_set_spare(struct pack_reader *reader, pack_reader_spare_fn *fn,
			   void *ctx);

/*
 * From now on the reader compares the CRC-32 of each entry that it decodes with
 * the CRC in the index. A different CRC is ERR_CORRUPT. An index of version 1
 * has no CRCs. Objects that are cached already are not compared.
 */
void pack_reader_check_crcs(struct pack_reader *reader);

/* Returns the reader's inflater, for callers that decode other data. */
struct inflater *pack_reader_inflater(struct pack_reader *reader);

/*
 * A decoded object. A NUL follows `data`. The object is valid until
 * pack_object_release(), even if other objects are read meanwhile.
 */
struct pack_object {
	enum object_type type; /* never a delta type */
	const uint8_t *data;
	size_t len;
	void *pin; /* private to the reader */
};

#define PACK_OBJECT_INIT                                                       \
	{                                                                      \
		OBJ_NONE, NULL, 0, NULL                                        \
	}

/*
 * Decodes the object at `offset`. Delta chains are resolved iteratively, base
 * first. Returns 0 or a negative error code. After an error, *obj is zeroed.
 * Returns ERR_CORRUPT, with pack and offset in the message, if the base of a
 * REF_DELTA is not in the pack, if deltas form a cycle, or if sizes disagree.
 * After pack_reader_set_spare(), the reader uses another copy of a damaged
 * base.
 */
int pack_reader_read(struct pack_reader *reader, struct pack *pack,
		     uint64_t offset, struct pack_object *obj,
		     struct error *err);

/* Releases the bytes of a decoded object. A zeroed object is allowed. */
void pack_object_release(struct pack_reader *reader, struct pack_object *obj);

/*
 * Inflates the entry at `offset`, which is an object stored whole or a delta,
 * to entry->size bytes. A delta is not applied. *entry is the header, parsed by
 * pack_entry_at(). *data belongs to the reader and is valid until its next
 * call. Returns 0, ERR_CORRUPT or ERR_NOMEM.
 */
int pack_reader_stored(struct pack_reader *reader, struct pack *pack,
		       uint64_t offset, const struct pack_entry *entry,
		       const uint8_t **data, struct error *err);

/*
 * Finds type and size of the object at `offset` without decoding it. Reads the
 * headers of the delta chain, and inflates at most the first bytes of one
 * delta. `type` and `size` may be NULL. Returns 0 or a negative error code.
 */
int pack_reader_info(struct pack_reader *reader, struct pack *pack,
		     uint64_t offset, enum object_type *type, uint64_t *size,
		     struct error *err);

/*
 * The function below reads an object in pieces. It is for blobs that are too
 * large to be held in memory (core.bigFileThreshold).
 */

/*
 * Passes the inflated bytes of the entry at `offset` to `fn` in pieces, from
 * first to last. *entry is the header, parsed by pack_entry_at(); it must not
 * be a delta.
 *
 * Returns 0 on success. If `fn` returns a nonzero value, stops and returns this
 * value. Returns ERR_CORRUPT if the entry does not inflate to its size, with
 * pack and offset in the message. `fn` may then have received all bytes.
 */
int pack_pieces(const struct pack *pack, uint64_t offset,
		const struct pack_entry *entry, struct inflater *inf,
		int (*fn)(void *ctx, const void *bytes, size_t len,
			  struct error *err),
		void *ctx, struct error *err);

#endif
