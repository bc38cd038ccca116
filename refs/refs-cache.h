/* SPDX-License-Identifier: MIT */
/*
 * A cache of a repository's refs for a server: the packed-refs file, or the
 * reftable stack of the shared refs, mapped once for many snapshots of refs.
 * Mapping these files, touching their pages and unmapping them costs more than
 * a search.
 *
 * No snapshot gets refs that are older than its request. Each request asks a
 * witness (sys/witness.h) whether packed-refs, or the file tables.list of the
 * stack, has changed since it was read. After a file is replaced, its old map
 * stays readable for the snapshots that use it.
 *
 * A note is a text that a user has derived from the mapped refs alone, such as
 * a listing of refs. Requests that need the same text share the note. The note
 * lives as long as the maps.
 *
 * A cache may also have the content of the file HEAD. The owner of the cache
 * makes sure that no request gets this content after the file HEAD has changed.
 *
 * Threads may share a cache.
 */
#ifndef REFS_REFS_CACHE_H
#define REFS_REFS_CACHE_H

#include "base/buf.h"
#include "base/error.h"
#include "refs/packed-refs.h"
#include "reftable/stack.h"

struct refs_cache;

/*
 * Mapped refs that one or more snapshots use. Immutable. Only
 * refs_cache_packed() and refs_cache_stack() can make this struct, because it
 * is the first member of a private struct in refs-cache.c.
 */
struct refs_cached {
	/* the file, if refs_cache_packed() made this struct; otherwise empty */
	struct packed_refs table;
	/* the stack, if refs_cache_stack() made this struct; otherwise empty */
	struct reftable_stack stack;
};

/*
 * Makes a cache that has no refs yet. `head` is the content of HEAD,
 * borrowed, or NULL. Returns NULL if memory runs out.
 */
struct refs_cache *refs_cache_new(const char *head);

/* Returns the content of HEAD, or NULL. */
const char *refs_cache_head(const struct refs_cache *cache);

/* Frees the cache. No snapshot may use refs of the cache. NULL is allowed.
 */
void refs_cache_free(struct refs_cache *cache);

/*
 * Sets *out to the packed-refs file at `path`. Maps the file again if it has
 * changed. One cache is for one file: all calls have the same path, and
 * refs_cache_stack() is not called for this cache. The caller gives *out back
 * with refs_cache_put(). Returns 0, or an error of packed_refs_open().
 */
int refs_cache_packed(const struct refs_cached **out, struct refs_cache *cache,
		      const char *path, enum hash_algo algo, struct error *err);

/*
 * Sets *out to the reftable stack in the directory `dir`. Opens the stack again
 * if its tables.list has changed. Otherwise works like refs_cache_packed().
 * Returns 0, or an error of reftable_stack_open().
 */
int refs_cache_stack(const struct refs_cached **out, struct refs_cache *cache,
		     const char *dir, enum hash_algo algo, struct error *err);

void refs_cache_put(struct refs_cache *cache, const struct refs_cached *cached);

/*
 * Maximum number of notes that a struct refs_cached stores. A note is a text
 * that was computed from these refs, such as a listing. If there are more
 * notes, a new one replaces an old one.
 */
#define REFS_CACHE_NOTES 4
/*
 * Maximum length in bytes of the text of a note (REFS_CACHE_NOTES), and of its
 * key. A longer note is not stored: a key has the ref prefixes that a client
 * has sent, so a client could fill the memory.
 */
#define REFS_CACHE_NOTE_MAX 65536

/*
 * Finds the note with the key `key`. Appends the text of the note to *out, and
 * sets *number to the number that was stored with the note. Returns 1 if the
 * note was appended, 0 if no note has this key, or ERR_NOMEM.
 */
int refs_cache_find_note(struct buf *out, uint64_t *number,
			 struct refs_cache *cache,
			 const struct refs_cached *cached,
			 const struct buf *key);

/*
 * Stores a note: a text that was computed from the refs of *cached, such as a
 * listing for a client (REFS_CACHE_NOTES). The note gets the key `key`, and its
 * text is a copy of the `len` bytes at `bytes`. `number` is stored too, and
 * refs_cache_find_note() returns it with the note. Does nothing if memory runs
 * out.
 */
void refs_cache_add_note(struct refs_cache *cache,
			 const struct refs_cached *cached,
			 const struct buf *key, const void *bytes, size_t len,
			 uint64_t number);

#endif
