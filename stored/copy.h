/* SPDX-License-Identifier: MIT */
/*
 * The local copy of a repository in a store: a bare repository in the cache
 * directory of a node (stored/node.h), which is brought to newer generations
 * in place. Everything that reads a bare repository reads a copy.
 *
 *	<dir>/repo/<path>/_/store-copy    the marker: the generation of the copy
 *	                   /store-used    its time is that of the last check
 *	                   /...           files and refs of the generation
 *
 *	open or enter -> refresh, advance, ... -> close
 *
 * A user of a copy holds the lock USE, shared, from open or enter to close. So
 * nobody removes the copy. Whoever changes the copy holds the lock CHANGE.
 *
 * Copies are not durable: everything can be made again. The marker says which
 * run of the system made the copy, and after another start the copy is made
 * anew, of files in the cache. So a refresh syncs nothing but downloads.
 *
 * A struct has one thread. Threads and processes may use one copy through
 * structs of their own.
 */
#ifndef STORED_COPY_H
#define STORED_COPY_H

#include "stored/node.h"

struct stored_copy;

#define STORED_COPY_MARKER "store-copy"
#define STORED_COPY_USED "store-used"

/*
 * Opens the copy at `git_dir`, and its cache directory. Returns 0 with *out
 * owned by the caller, 1 if the directory is no copy, or a negative error code.
 * If there is no marker, this costs one system call.
 */
int stored_copy_open(struct stored_copy **out, const char *git_dir,
		     struct error *err);

/*
 * Starts using the copy of a repository. The copy need not exist: the first
 * refresh makes it. `node` is borrowed. Returns 0 with *out owned by the
 * caller, ERR_INVALID if a store cannot have a repository of this name, or
 * another negative error code. Nothing is read, and no request is sent.
 */
int stored_copy_enter(struct stored_copy **out, struct stored_node *node,
		      const char *name, struct error *err);

/* NULL is allowed. */
void stored_copy_close(struct stored_copy *copy);

/*
 * Brings the copy to the newest generation, asked of the store after the call
 * began. If the copy is the newest, one request is sent. Returns 0;
 * ERR_MISSING if the store has no such repository, and nothing was made;
 * ERR_IO if the store does not answer or the disk failed; or another negative
 * error code. After an error, the copy has one of the generations that it had,
 * whole.
 */
int stored_copy_refresh(struct stored_copy *copy, struct error *err);

/*
 * Brings the copy to a generation that exists in the store. Does nothing if the
 * copy has a newer one already. Sends no request for records. After a push:
 * files that stored_cache_add() has taken are not downloaded. Returns like
 * stored_copy_refresh().
 */
int stored_copy_advance(struct stored_copy *copy, const struct generation *g,
			struct error *err);

/*
 * Takes the lock CHANGE, and waits for it. A program that changes the refs of
 * the copy by itself holds it from before the lock of the refs to after the
 * commit. stored_copy_advance() may be called meanwhile. Calls nest. Returns 0
 * or ERR_IO.
 */
int stored_copy_begin(struct stored_copy *copy, struct error *err);
void stored_copy_end(struct stored_copy *copy);

/*
 * Reads the marker. Returns 1 if there is no copy that can be used, otherwise 0
 * or a negative error code.
 */
int stored_copy_load(struct stored_copy *copy, struct error *err);

/*
 * Tells the struct the number of the marker, in place of stored_copy_load(): no
 * other file has taken the marker's place since it was read. Then
 * stored_copy_refresh() reads the marker only if there is a newer generation.
 * stored_copy_generation() has no more than the number until then.
 */
void stored_copy_assume(struct stored_copy *copy, uint64_t number);

/*
 * The generation that the copy had when it was loaded, refreshed or advanced.
 * Its number is 0 if there is no usable copy.
 */
const struct generation *stored_copy_generation(const struct stored_copy *copy);

/* Borrowed from the copy: */
const struct generation_place *stored_copy_place(
	const struct stored_copy *copy);
struct stored_cache *stored_copy_cache(const struct stored_copy *copy);
/* Absolute path of the repository. */
const char *stored_copy_dir(const struct stored_copy *copy);

#endif
