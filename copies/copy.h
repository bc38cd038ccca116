/* SPDX-License-Identifier: MIT */
/*
 * The local copy of a repository in a store: a bare repository in the cache
 * directory of a node (copies/node.h), which is brought to newer generations in
 * place. Every program that reads a bare repository can read a copy.
 *
 *	<dir>/repo/<path>/_/store-copy    the marker: the generation of the copy
 *	                   /store-used    empty; its mtime is when the store
 *	                                  last confirmed that the copy has the
 *	                                  newest generation
 *	                   /...           files and refs of the generation
 *
 *	open or enter -> refresh, advance, ... -> close
 *
 * stored_copy_open() opens a copy that exists, by its path. stored_copy_enter()
 * begins with the name of a repository, whose copy need not exist yet.
 * stored_copy_refresh() brings the copy to the newest generation in the store.
 * stored_copy_advance() brings it to a generation that the caller names.
 *
 * A user of a copy holds the lock USE in shared mode from open or enter to
 * close. While the lock is held, nobody removes the copy. A process that
 * changes the copy holds the lock CHANGE.
 *
 * Copies are not durable, because they can be made again. The marker contains
 * the boot id of the system. After the system was started again, the copy is
 * not used any more, and is made anew from files in the cache. So a refresh
 * syncs only downloaded files.
 *
 * Only one thread may use a struct. Several threads and processes may use one
 * copy, each with its own struct.
 */
#ifndef COPIES_COPY_H
#define COPIES_COPY_H

#include "copies/node.h"
#include "repo/repo.h"

struct stored_copy;

#define STORED_COPY_USED "store-used"
#define STORED_COPY_MADE "store-made"

/*
 * Name of an environment variable that a server sets for a child process. Its
 * value is the path of a copy that was brought to the newest generation after
 * the request had arrived.
 */
#define STORED_COPY_ASKED "GITREACH_COPY_ASKED"

/*
 * Opens the copy at `git_dir`, and the cache directory to which it belongs. If
 * the cache directory has a relay (a process that sends requests to the store),
 * the relay is used. Returns 0 with *out owned by the caller, 1 if `git_dir` is
 * no copy, or a negative error code. If `git_dir` has no marker (the file
 * store-copy), it is no copy, and the call costs one system call.
 */
int stored_copy_open(struct stored_copy **out, const char *git_dir,
		     struct error *err);

/*
 * Begins to use the copy of a repository (lock USE). The copy need not exist:
 * stored_copy_refresh() can make it later. This function reads nothing, and
 * sends no request. `node` is borrowed. Returns 0 with *out owned by the
 * caller, ERR_INVALID if a store cannot have a repository of this name, or
 * another negative error code.
 */
int stored_copy_enter(struct stored_copy **out, struct stored_node *node,
		      const char *name, struct error *err);

/* Ends the use of a copy. NULL is allowed. */
void stored_copy_close(struct stored_copy *copy);

/*
 * Brings the copy to the generation that is the newest in the store at some
 * moment during the call.
 *
 * - If the copy already has this generation, one request is sent to the store.
 * - Another process of this node may be bringing the copy to this generation,
 *   and may have noted it (stored_copy_note_made()). Then one request is sent,
 *   and this function waits for the other process.
 * - If stored_copy_doubt() was called before, one more request asks whether the
 *   store still has the generation of the copy.
 * - Before the copy gets a newer generation, the same question is asked. If the
 *   answer is no, the store was restored from a backup: its newer generation
 *   belongs to another history, and the call fails.
 *
 * Returns 0 or a negative error code. ERR_MISSING: the store has no such
 * repository, and no copy is made. ERR_CORRUPT: the store lacks a file of the
 * generation, has a different file, or has lost the generation of the copy.
 * ERR_IO: the store does not answer, or the disk failed. After an error, the
 * copy has one complete generation, which may be an old one.
 */
int stored_copy_refresh(struct stored_copy *copy, struct error *err);

/*
 * Makes the next refresh ask the store whether it still has exactly the
 * generation of the copy. Without this question, a copy would seem up to date
 * after the store was emptied, because the store has no newer generation.
 */
void stored_copy_doubt(struct stored_copy *copy);

/*
 * Returns true if stored_copy_doubt() was called, and since then the store has
 * not proved that it has the generation of the copy.
 *
 * A successful stored_copy_refresh() gets this proof, with one exception. If
 * there is no usable copy, the refresh may make one from the hint, a file in
 * the store that has a recent record. The store then says only that it has a
 * record with the same number, which may be a different record. So there is no
 * proof.
 */
bool stored_copy_is_doubted(const struct stored_copy *copy);

/*
 * Finds out whether the store has the repository, without changing the copy. If
 * there is a copy, the answer is yes, and no request is sent. Otherwise up to
 * three requests are sent. Returns 0 if the store has the repository,
 * ERR_MISSING if not, ERR_IO if the store does not answer, or another negative
 * error code.
 */
int stored_copy_look(struct stored_copy *copy, struct error *err);

/*
 * Removes from the copy all objects that the generation of the copy does not
 * have: loose objects, alternates, and packs. Only stock Git or a hook can have
 * added them. A push must not rely on such objects, because the store does not
 * have them.
 *
 * First looks for such objects, without a lock: lists objects/ and the four
 * directories below it in which a generation may have files. A directory of
 * loose objects, such as objects/ab, is found as an entry of objects/. If the
 * copy has such objects, refreshes the copy and removes the objects. Returns 0,
 * or a negative error code if such objects may be left.
 */
int stored_copy_purge(struct stored_copy *copy, struct error *err);

/*
 * Brings the copy to the generation *g, which must exist in the store: for
 * example, one that a push has just made. Does nothing if the copy already has
 * a newer generation. Sends no request for records, and downloads no file that
 * is in the cache (stored_cache_add()). Returns the values of
 * stored_copy_refresh(), except ERR_MISSING.
 */
int stored_copy_advance(struct stored_copy *copy, const struct generation *g,
			struct error *err);

/*
 * Notes in a file of the copy that *g is the newest generation that pushes of
 * this node have made. The next push reads the note. So it can start from *g
 * before the copy has been brought to *g. Calls at the same time may leave a
 * damaged note, which is ignored. Returns 0 or a negative error code.
 */
int stored_copy_note_made(const struct stored_copy *copy,
			  const struct generation *g, struct error *err);

/*
 * Returns the number of the generation in the note of stored_copy_note_made(),
 * whichever process wrote it, or 0 if there is no note. Only the number in the
 * note is read.
 */
uint64_t stored_copy_made_number(const struct stored_copy *copy);

/*
 * Sets *out to the newer of two generations: the one that
 * stored_copy_note_made() noted last, and the one of the copy. Both were in the
 * store, but a store that was restored from a backup may have lost them.
 * Returns 0, 1 if there is no usable copy, or a negative error code.
 */
int stored_copy_newest_made(struct generation *out, struct stored_copy *copy,
			    struct error *err);

/*
 * Works like stored_copy_advance(). If stored_copy_note_made() has noted a
 * newer generation than *g, brings the copy to that generation instead. Returns
 * the codes of stored_copy_advance().
 */
int stored_copy_advance_made(struct stored_copy *copy,
			     const struct generation *g, struct error *err);

/*
 * Takes the lock CHANGE, after waiting for it. A program must call this
 * function before it locks refs in the copy to change them, and
 * stored_copy_end() after the refs have their new values. stored_copy_advance()
 * may be called in between. Calls may be nested. Returns 0 or ERR_IO.
 */
int stored_copy_begin(struct stored_copy *copy, struct error *err);
void stored_copy_end(struct stored_copy *copy);

/*
 * Reads the marker. Returns 0, 1 if there is no usable copy, or a negative
 * error code.
 */
int stored_copy_load(struct stored_copy *copy, struct error *err);

/*
 * Sets the generation that the copy has to *known. Call this function in place
 * of stored_copy_load(), which reads the generation from the marker (the file
 * of the copy that says which generation the copy has). The caller must have
 * checked that the marker was not replaced since *known was read from it.
 *
 * Only three fields of *known are used: the number, the parent, and the token
 * (a random number that identifies the record of the generation).
 * stored_copy_refresh() reads the marker later, only if the store has a newer
 * generation. Until then, stored_copy_generation() has only these three fields.
 *
 * If the number is 0, no generation is assumed: stored_copy_refresh() reads the
 * marker first.
 */
void stored_copy_assume(struct stored_copy *copy,
			const struct generation *known);

/*
 * Returns the generation that the copy had when it was last loaded, refreshed
 * or advanced. The number is 0 if there is no usable copy.
 */
const struct generation *stored_copy_generation(const struct stored_copy *copy);

/* The following functions return parts of *copy, which are borrowed. */
const struct generation_place *stored_copy_place(
	const struct stored_copy *copy);
/*
 * Works like stored_copy_place(), but the store in the result has short time
 * limits. Use it for requests for few bytes.
 */
struct generation_place stored_copy_probe_place(const struct stored_copy *copy);
struct stored_cache *stored_copy_cache(const struct stored_copy *copy);
/* Returns the relay of the node, or NULL if there is none. */
struct relay *stored_copy_relay(const struct stored_copy *copy);
/* Returns the absolute path of the repository. */
const char *stored_copy_dir(const struct stored_copy *copy);

#endif
