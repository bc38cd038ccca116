/* SPDX-License-Identifier: MIT */
/*
 * Indexing a pack: from bytes that somebody sent, or a file without an index,
 * to .pack, .rev and .idx that can be trusted.
 *
 *	bytes -> receive (entries found, whole objects hashed, checksum)
 *	      -> resolve (deltas applied base first, their results hashed;
 *	                  missing bases appended)
 *	      -> write   (.pack, .keep, .rev, and the .idx that makes them
 *	                  visible last)
 *
 * Every entry is inflated to its end, every object hashed, the trailer and
 * the number of objects checked. Memory is bounded by the number of objects
 * (some 64 bytes each), `cache_limit` per thread, and a few objects; blobs
 * above 16 MiB that are stored whole are hashed in pieces.
 *
 * An object that is part of a SHA-1 collision attack is refused (object/hash.h,
 * ERR_CORRUPT), and one that we have already is compared byte by byte (`has`,
 * `compare`). Whether objects are well-formed is for who gets to see
 * them (`object`).
 */
#ifndef PACK_INDEXER_H
#define PACK_INDEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "object/oid.h"
#include "object/type.h"
#include "pack/idx.h"
#include "sys/progress.h"
#include "sys/tempfile.h"

/*
 * Where bytes come from. `read` gives up to `len` bytes and returns their
 * number, 0 at the end, or a negative error. It is called only when more
 * bytes are needed: never past the trailer, so that a peer may wait for an
 * answer with its side still open.
 */
struct pack_source {
	ssize_t (*read)(void *ctx, void *bytes, size_t len, struct error *err);
	void *ctx;
	bool must_end; /* read on after the trailer: more bytes are an error */
	/*
	 * Bytes that came with the last read and are not the pack's. NULL:
	 * such bytes are an error.
	 */
	int (*rest)(void *ctx, const void *bytes, size_t len,
		    struct error *err);
};

/*
 * What the indexer asks about the repository; any may be NULL. Calls may come
 * from any of its threads; `thread_nr` < threads tells which, so that each
 * can have a reader of its own. `base` is called by one thread at a time.
 */
struct pack_indexer_hooks {
	/*
	 * The content of an object that a thin pack left out, malloc()ed into
	 * *data. 1 when found, 0 when there is no such object, or an error.
	 * NULL: thin packs are not completed.
	 */
	int (*base)(void *ctx, const struct oid *oid, enum object_type *type,
		    void **data, size_t *len, struct error *err);
	/* Whether an object of this id exists: 1 or 0, or an error. */
	int (*has)(void *ctx, unsigned thread_nr, const struct oid *oid,
		   struct error *err);
	/*
	 * For an id that `has` knows: 0 when the object that is there has this
	 * type and content, ERR_CORRUPT for a collision, or another error.
	 */
	int (*compare)(void *ctx, unsigned thread_nr, const struct oid *oid,
		       enum object_type type, const void *data, size_t len,
		       struct error *err);
	/*
	 * Each object of the pack, once its id is known and it was compared;
	 * more than once is possible. `data` is NULL for blobs that are not in
	 * memory as a whole. A negative return ends the indexing.
	 */
	int (*object)(void *object_ctx, unsigned thread_nr,
		      const struct oid *oid, enum object_type type,
		      const void *data, size_t len, struct error *err);
	void *object_ctx;
	/*
	 * Something of the pack is broken, which *what describes. After 0 what
	 * can be had of the pack all the same is made one: only this entry is
	 * lost, or with `is_end` all that follows. A negative return is the
	 * indexer's. NULL: what is broken is an error. With this, of a
	 * received pack, and with one thread only.
	 */
	int (*broken)(void *broken_ctx, bool is_end, const struct error *what);
	void *broken_ctx;
	void *ctx; /* of the others */
};

struct pack_indexer_config {
	enum hash_algo algo;
	unsigned share;          /* of files: sys/share.h */
	unsigned threads;        /* that resolve deltas; at least 1 */
	uint64_t max_len;        /* bytes of a received pack; 0: any */
	uint64_t max_object_len; /* bytes that a delta may make; 0: any */
	size_t cache_limit;      /* bytes of waiting bases, per thread */
	const char *parse_title; /* of the meter, "Receiving objects" */
	const struct progress_out *parse_progress;   /* borrowed, or NULL */
	const struct progress_out *resolve_progress; /* borrowed, or NULL */
	struct pack_indexer_hooks hooks;
};

/* One pack on its way; made and used by one thread, which starts others. */
struct pack_indexer;

/* A copy of `config` is kept. NULL when out of memory. */
struct pack_indexer *pack_indexer_new(const struct pack_indexer_config *config);

/* Removes temporary files that were not committed. NULL is accepted. */
void pack_indexer_free(struct pack_indexer *ix);

/*
 * Take a pack from `source` into a temporary file "<dir>/tmp_pack_XXXXXX".
 * ERR_CORRUPT for bytes that are no pack, a pack whose checksum or number of
 * objects is wrong, or bytes after it; ERR_DENIED past max_len; or what the
 * source said. The indexer can only be freed after an error, here and below.
 */
int pack_indexer_receive(struct pack_indexer *ix, struct pack_source source,
			 const char *dir, struct error *err);

/* The same for the file `path`, which stays where and as it is. */
int pack_indexer_open(struct pack_indexer *ix, const char *path,
		      struct error *err);

/*
 * Resolve all deltas. Bases that are missing are asked for (hooks.base) and
 * appended to a received pack, whose header and checksum are then written
 * anew. ERR_CORRUPT for deltas that remain without a base ("pack has 2
 * unresolved deltas", a cycle looks like that too) or do not fit theirs, and
 * for a collision.
 */
int pack_indexer_resolve(struct pack_indexer *ix, struct error *err);

/*
 * Look for an object that is in the pack twice, be it whole or a delta. Call
 * this after pack_indexer_resolve(). Returns 0 if there is none, or ERR_CORRUPT
 * with the words of Git 2.55. Cost: one pass over the ids.
 */
int pack_indexer_check_unique(const struct pack_indexer *ix, struct error *err);

/* What is known after pack_indexer_resolve(). */
struct pack_indexer_result {
	struct oid checksum;  /* of the pack */
	uint32_t nr;          /* objects in it, with those appended */
	uint32_t delta_nr;    /* of these, stored as deltas */
	uint32_t appended_nr; /* bases that a thin pack left out */
	uint64_t pack_len;    /* bytes */
	const struct pack_idx_entry *entries; /* nr, by id; the indexer's */
};

void pack_indexer_result(const struct pack_indexer *ix,
			 struct pack_indexer_result *out);

/*
 * Read an object of the pack after pack_indexer_resolve(): 1 with its type and
 * content, malloc()ed into *data; 0 when the pack does not have it; or a
 * negative error. One thread.
 */
int pack_indexer_read(struct pack_indexer *ix, const struct oid *oid,
		      enum object_type *type, void **data, size_t *len,
		      struct error *err);

/* Where the files go. Paths are complete; NULL: do not write this one. */
struct pack_indexer_files {
	const char *pack; /* for received packs */
	const char *idx;
	const char *rev;
	const char *keep; /* made first, with this content */
	const char *keep_text;
	const char *promisor;
	const char *promisor_text;
	struct pack_idx_format idx_format;
	enum sys_fsync_method fsync_pack, fsync_metadata;
};

/*
 * Put the files in place: .keep and .promisor, .pack, .rev, and .idx last,
 * each renamed from a temporary file beside it. Returns 1 when a .keep was
 * made, 0 when none was asked for or there was one, or a negative error;
 * files that were placed before it stay, and without the .idx are no pack.
 */
int pack_indexer_write(struct pack_indexer *ix,
		       const struct pack_indexer_files *files,
		       struct error *err);

#endif
