/* SPDX-License-Identifier: MIT */
/*
 * The packed-refs file of a repository, mapped once for many snapshots of refs.
 * For a server: mapping the file, touching its pages and unmapping it costs
 * more than a search in it.
 *
 * No snapshot gets a table that is older than its request: each request for the
 * table asks a witness (sys/witness.h) whether the file has changed since it
 * was mapped. The map stays readable after the file is replaced, until its last
 * user ends.
 *
 * Threads may share a keep.
 */
#ifndef REFS_PACKED_KEEP_H
#define REFS_PACKED_KEEP_H

#include "base/error.h"
#include "refs/packed-refs.h"

struct packed_keep;

/* A mapped file, in use by one or more snapshots. Immutable. */
struct packed_kept {
	struct packed_refs table;
	/* The struct has more members, which are private to packed-keep.c. */
};

/* Returns a keep without a map, or NULL without memory. */
struct packed_keep *packed_keep_new(void);

/* Frees the keep. No snapshot may use one of its tables. NULL is allowed. */
void packed_keep_free(struct packed_keep *keep);

/*
 * Find the file at `path`, which is the same in each call, mapped and
 * unchanged, or map it. *out must be given back. Returns 0, or an error of
 * packed_refs_open().
 */
int packed_keep_get(const struct packed_kept **out, struct packed_keep *keep,
		    const char *path, enum hash_algo algo, struct error *err);
void packed_keep_put(struct packed_keep *keep, const struct packed_kept *kept);

#endif
