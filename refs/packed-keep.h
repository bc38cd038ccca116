/* SPDX-License-Identifier: MIT */
/*
 * A keep: the packed-refs file of a repository, mapped once for many snapshots
 * of refs. A server needs this, because mapping the file, touching its pages
 * and unmapping the file cost more than a search.
 *
 * No snapshot gets a table that is older than its request. Each request for the
 * table asks a witness (sys/witness.h) whether the file has changed since it
 * was mapped. The map stays readable after the file is replaced, until its last
 * user ends.
 *
 * A note is a text that a user of the map has derived from the table alone,
 * such as a listing of refs. Requests that need the same text share the note.
 * The note lives as long as the map.
 *
 * A keep may also have the content of the file HEAD. The owner of the keep
 * makes sure that no request gets this content after the file HEAD has changed.
 *
 * Threads may share a keep.
 */
#ifndef REFS_PACKED_KEEP_H
#define REFS_PACKED_KEEP_H

#include "base/buf.h"
#include "base/error.h"
#include "refs/packed-refs.h"

struct packed_keep;

/*
 * A mapped file, in use by one or more snapshots. Immutable. Only
 * packed_keep_get() makes one: this struct is the first part of a larger
 * struct, which is private to packed-keep.c.
 */
struct packed_kept {
	struct packed_refs table;
};

/*
 * Makes a keep that has mapped no file yet. `head` is the content of HEAD,
 * borrowed, or NULL. Returns NULL if memory runs out.
 */
struct packed_keep *packed_keep_new(const char *head);

/* Returns the content of HEAD, or NULL. */
const char *packed_keep_head(const struct packed_keep *keep);

/* Frees the keep. No snapshot may use a table of the keep. NULL is allowed. */
void packed_keep_free(struct packed_keep *keep);

/*
 * Sets *out to the mapped file at `path`, which is the same path in each call
 * for a keep. Maps the file again if it has changed. The caller gives *out
 * back with packed_keep_put(). Returns 0, or an error of packed_refs_open().
 */
int packed_keep_get(const struct packed_kept **out, struct packed_keep *keep,
		    const char *path, enum hash_algo algo, struct error *err);
void packed_keep_put(struct packed_keep *keep, const struct packed_kept *kept);

/*
 * Maximum number of notes of a mapped file: texts that its users have derived
 * from it, such as a listing of refs. A further note replaces one of these
 * notes.
 */
#define PACKED_KEEP_NOTES 4
/*
 * Maximum length in bytes of the text of a note, and of its key. A longer note
 * is not stored, so that a client, whose ref prefixes are in the key, cannot
 * fill the memory.
 */
#define PACKED_KEEP_NOTE_MAX 65536

/*
 * Appends the text of the note with a key to *out, and sets *number to the
 * number that was stored with the note. Returns 1 if the note was appended, 0
 * if no note has this key, or ERR_NOMEM.
 */
int packed_keep_find_note(struct buf *out, uint64_t *number,
			  struct packed_keep *keep,
			  const struct packed_kept *kept,
			  const struct buf *key);

/*
 * Stores a copy of `len` bytes as the note with a key, and a number that
 * packed_keep_find_note() returns with the note. Does nothing if memory runs
 * out.
 */
void packed_keep_add_note(struct packed_keep *keep,
			  const struct packed_kept *kept, const struct buf *key,
			  const void *bytes, size_t len, uint64_t number);

#endif
