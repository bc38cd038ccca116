/* SPDX-License-Identifier: MIT */
/*
 * Indexes a pack: turns bytes from a peer, or a file without an index, into
 * trustworthy .pack, .rev and .idx files.
 *
 * 	bytes -> receive (entries found, whole objects hashed, checksum)
 * 	      -> resolve (deltas applied base first, their results hashed;
 * 	                  missing bases appended)
 * 	      -> write   (.pack, .keep, .rev, and the .idx that makes them
 * 	                  visible last)
 *
 * Every entry is inflated to its end, and every object is hashed. The trailer
 * and the number of objects are verified. The indexer needs some 64 bytes of
 * memory per object, `cache_limit` bytes per thread, and a few whole objects.
 * Whole blobs above 16 MiB are hashed in pieces.
 *
 * An object that is part of a SHA-1 collision attack is refused (object/hash.h,
 * ERR_CORRUPT). The caller can pass callbacks. With has() and compare(), an
 * object that the repository has already is compared with the existing object
 * byte by byte. The callback object() may check whether each object is
 * well-formed.
 */
#ifndef INDEXER_INDEXER_H
#define INDEXER_INDEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "config/config.h"
#include "object/oid.h"
#include "object/type.h"
#include "pack/idx.h"
#include "pack/pack.h"
#include "sys/progress.h"
#include "sys/tempfile.h"

/*
 * A source of bytes. `read` stores up to `len` bytes and returns their number,
 * 0 at the end, or a negative error code. `read` is called only if more bytes
 * are needed. After the trailer of the pack, `read` is called only if must_end
 * is set: this field says that nothing may follow the pack. If must_end is not
 * set, nothing is read after the trailer, because a peer may wait for a
 * response without closing the connection.
 */
struct pack_source {
	ssize_t (*read)(void *ctx, void *bytes, size_t len, struct error *err);
	void *ctx;
	/* true: reads on after the trailer; further bytes are an error */
	bool must_end;
	/*
	 * Receives bytes that came with the last read and are not part of the
	 * pack. NULL: such bytes are an error.
	 */
	int (*rest)(void *ctx, const void *bytes, size_t len,
		    struct error *err);
};

/*
 * Callbacks that answer queries about the repository. Each may be NULL. Any
 * thread of the indexer may call them. Several threads may call them at the
 * same time, with one exception: a call of `base` begins only when no other
 * call of `base` is running. `thread_nr` < threads is the number of the calling
 * thread, so that each thread can have its own reader.
 */
struct pack_indexer_hooks {
	/*
	 * Reads a delta base that a thin pack left out, malloc()ed into *data.
	 * Returns 1 if the object was found, 0 if there is no such object, or a
	 * negative error code. NULL: thin packs are not completed.
	 */
	int (*base)(void *ctx, const struct oid *oid, enum object_type *type,
		    void **data, size_t *len, struct error *err);
	/*
	 * Called once before `base`, with the ids of all delta bases that were
	 * not found in the pack. Most of these were left out of a thin pack.
	 * But some may be deltas in the pack, which cannot be resolved before
	 * their own base is read. Returns 0 or a negative error code. NULL: the
	 * indexer does not announce the ids.
	 */
	int (*announce_bases)(void *ctx, const struct oid *oids, size_t nr,
			      struct error *err);
	/*
	 * Returns 1 if an object with this id exists, 0 if not, or a negative
	 * error code.
	 */
	int (*has)(void *ctx, unsigned thread_nr, const struct oid *oid,
		   struct error *err);
	/*
	 * Compares an object of the pack with the existing object of the same
	 * id, which `has` reported. Returns 0 if type and content are equal, or
	 * if the existing object is gone meanwhile. Returns ERR_CORRUPT for a
	 * hash collision, or another error code.
	 */
	int (*compare)(void *ctx, unsigned thread_nr, const struct oid *oid,
		       enum object_type type, const void *data, size_t len,
		       struct error *err);
	/*
	 * Called for each object of the pack, after its id is computed and it
	 * is compared with an existing object. Objects that the pack has twice
	 * may be passed twice. `data` is NULL for blobs that are not in memory
	 * as a whole. A negative result ends the indexing.
	 */
	int (*object)(void *object_ctx, unsigned thread_nr,
		      const struct oid *oid, enum object_type type,
		      const void *data, size_t len, struct error *err);
	void *object_ctx;
	/*
	 * Called if a part of the pack is broken. *what describes the damage.
	 * If the callback returns 0, the indexer continues: only this entry is
	 * lost, or with `is_end` also all entries after it. A negative result
	 * ends the indexing and is returned. NULL: a broken pack is an error.
	 * This callback works only for received packs and with one thread.
	 */
	int (*broken)(void *broken_ctx, bool is_end, const struct error *what);
	void *broken_ctx;
	/*
	 * context that `base`, `announce_bases`, `has` and `compare` get as
	 * their first argument
	 */
	void *ctx;
};

/*
 * The number of bytes that may be inflated, or made by applying deltas, for
 * each byte of a pack. Packs of long histories need about 100. Inflating alone
 * can make about 1000 bytes from one byte, since zlib compresses by at most
 * about this factor.
 */
#define PACK_INDEXER_WORK_FACTOR 1000

struct pack_indexer_config {
	enum hash_algo algo;
	/* permissions of new files, see sys/share.h */
	unsigned share;
	/* number of threads that resolve deltas, at least 1 */
	unsigned threads;
	/* limit for the bytes of a received pack; 0: no limit */
	uint64_t max_len;
	/* limit for the bytes of an object made by a delta; 0: no limit */
	uint64_t max_object_len;
	/*
	 * Limit for the bytes that are inflated or made by deltas; 0: no limit.
	 * A byte counts each time it is made. In addition,
	 * PACK_INDEXER_WORK_FACTOR bytes are allowed for each byte of the pack.
	 */
	uint64_t max_work;
	/* the name of the limit max_work in messages; borrowed */
	const char *max_work_name;
	/* limit for the bytes of decoded bases that one thread keeps */
	size_t cache_limit;
	/* title of the progress meter, e.g. "Receiving objects" */
	const char *parse_title;
	const struct progress_out *parse_progress;   /* borrowed, or NULL */
	const struct progress_out *resolve_progress; /* borrowed, or NULL */
	struct pack_indexer_hooks hooks;
};

/* The default of core.deltaBaseCacheLimit, in bytes. */
#define PACK_INDEXER_CACHE_LIMIT ((size_t)96 << 20)

/*
 * Returns the number of threads to use if `wanted` threads are configured; 0:
 * one per processor. The result is at most 20, as in stock Git.
 */
unsigned pack_indexer_threads(uint64_t wanted);

/*
 * Sets c->threads from pack.threads, and c->cache_limit from
 * core.deltaBaseCacheLimit. `config` may be NULL: both get their defaults.
 * Returns 0, or ERR_INVALID for a bad value.
 */
int pack_indexer_config_load(struct pack_indexer_config *c,
			     const struct config *config, struct error *err);

/*
 * An indexer of one pack. One thread calls its functions; the indexer starts
 * further threads itself.
 */
struct pack_indexer;

/* Makes an indexer with a copy of `config`. Returns NULL if memory runs out. */
struct pack_indexer *pack_indexer_new(const struct pack_indexer_config *config);

/*
 * Frees an indexer, and removes temporary files that were not renamed to their
 * final names. NULL is allowed.
 */
void pack_indexer_free(struct pack_indexer *ix);

/*
 * Receives a pack from `source` into a temporary file "<dir>/tmp_pack_XXXXXX".
 * Returns 0, ERR_CORRUPT, ERR_DENIED if the pack is longer than max_len or
 * needs more work than max_work, or an error of the source. The pack is corrupt
 * if it is malformed, if its checksum or number of objects is wrong, or if
 * bytes follow it. After an error of this function, or of one of the functions
 * below, the indexer can only be freed.
 */
int pack_indexer_receive(struct pack_indexer *ix, struct pack_source source,
			 const char *dir, struct error *err);

/*
 * Works like pack_indexer_receive(), but reads the pack from the file `path`,
 * which is not changed. Returns the same codes, or the error of opening the
 * file.
 */
int pack_indexer_open(struct pack_indexer *ix, const char *path,
		      struct error *err);

/*
 * Resolves all deltas. Missing bases come from the callback hooks.base and are
 * appended to a received pack, whose header and checksum are then rewritten.
 *
 * Returns 0, ERR_CORRUPT, ERR_DENIED if the pack needs more work than max_work,
 * or another error code. The pack is corrupt if a delta does not fit its base,
 * or if an object collides with an existing one. The pack is also corrupt if
 * deltas remain without a base ("pack has 2 unresolved deltas"); a cycle of
 * deltas has the same effect. If the indexer has resolved a cycle with other
 * copies of its objects, the pack is corrupt, too ("delta chain is a cycle").
 */
int pack_indexer_resolve(struct pack_indexer *ix, struct error *err);

/*
 * Verifies that no object is in the pack twice. Call this after
 * pack_indexer_resolve(). Returns 0, or ERR_CORRUPT with the message of Git
 * 2.55. Cost: one pass over the ids.
 */
int pack_indexer_check_unique(const struct pack_indexer *ix, struct error *err);

/* The facts about a pack that pack_indexer_resolve() has found. */
struct pack_indexer_result {
	struct oid checksum; /* of the pack */
	/* number of objects in the pack, including appended bases */
	uint32_t nr;
	/* number of objects that are stored as deltas */
	uint32_t delta_nr;
	/* number of appended bases, which a thin pack had left out */
	uint32_t appended_nr;
	uint64_t pack_len; /* bytes */
	/* owned by the indexer; `nr` entries, sorted by id */
	const struct pack_idx_entry *entries;
};

void pack_indexer_result(const struct pack_indexer *ix,
			 struct pack_indexer_result *out);

/*
 * Opens the pack after pack_indexer_resolve(), before its files are in place.
 * The pack's index is made in memory, and needs some 30 bytes per object.
 * Returns 0 with *out set, or a negative error code with *out set to NULL. The
 * caller closes the pack before the next call of a function of this indexer.
 */
int pack_indexer_open_pack(struct pack **out, struct pack_indexer *ix,
			   struct error *err);

/*
 * The paths of the files that pack_indexer_write() writes. A file whose path is
 * NULL is not written.
 */
struct pack_indexer_files {
	const char *pack; /* only for received packs */
	const char *idx;
	const char *rev;
	/* path of the .keep file, which is made first */
	const char *keep;
	/* content of the .keep file */
	const char *keep_text;
	const char *promisor;
	const char *promisor_text;
	struct pack_idx_format idx_format;
	enum sys_fsync_method fsync_pack, fsync_metadata;
	/*
	 * true: only the content of the files is made durable, and not their
	 * names. Set this for a temporary directory from which the files are
	 * linked to another place.
	 */
	bool is_passing;
};

/*
 * Puts the files in place: .keep and .promisor, then .pack and .rev, then .idx.
 * Each is renamed from a temporary file in the same directory. Waits while
 * another process has the lock of the directory (sys/dirlock.h).
 *
 * Returns 1 if a .keep file was made; 0 if it existed or keep is NULL;
 * ERR_DENIED if the pack exists and another process keeps the lock, because
 * that process may be removing the existing pack; or another negative error
 * code. After an error some files may be in place; without the .idx they are
 * not a pack.
 */
int pack_indexer_write(struct pack_indexer *ix,
		       const struct pack_indexer_files *files,
		       struct error *err);

#endif
