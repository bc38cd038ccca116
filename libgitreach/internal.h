/* SPDX-License-Identifier: MIT */
/* What the files of the public interface share. */
#ifndef LIBGITREACH_INTERNAL_H
#define LIBGITREACH_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/error.h"
#include "ewah/bitset.h"
#include "include/gitreach.h"
#include "odb/odb.h"
#include "pack-bitmap-answer.h"
#include "pack-bitmap.h"
#include "refs/refs.h"
#include "repo/repo.h"
#include "walk/filter.h"
#include "walk/objspace.h"

/* ---- errors */

struct gitreach_error {
	struct error error;
};

/* The inside of the caller's error; NULL for NULL. */
static inline struct error *libgitreach_error(gitreach_error *err)
{
	return err ? &err->error : NULL;
}

/*
 * The end of a function: what went wrong on the way is forgotten if it has
 * succeeded. Returns `ret`.
 */
static inline int libgitreach_done(int ret, gitreach_error *err)
{
	if (ret >= 0 && err)
		err->error = (struct error)ERROR_INIT;
	return ret;
}

/* What to return when a callback of the caller's returned `ret`, not 0. */
static inline int libgitreach_stopped(int ret, struct error *err)
{
	return ret > 0 ? ret
		       : error_set(err, ERR_CANCELLED,
				   "ended by the caller's function");
}

/* ---- structs that may grow, which begin with a uint64_t size */

/*
 * Copy `in`, of `len` bytes, to the caller's as far as it goes; out->size
 * stays. ERR_INVALID when it has no room for a size.
 */
int libgitreach_struct_out(void *out, const void *in, size_t len,
			   struct error *err);

/*
 * Copy the caller's `in` (NULL: nothing set) to `out`, of `len` bytes, the rest
 * zeroed. ERR_UNSUPPORTED when it sets more than we know.
 */
int libgitreach_struct_in(void *out, const void *in, size_t len,
			  struct error *err);

/* ---- progress */

/* The caller's function, as the rooms below ask it. */
struct libgitreach_progress {
	struct progress_out out;
	gitreach_progress_fn fn;
	void *ctx;
	atomic_bool is_cancelled; /* once, and for all meters */
};

/* What to hand down; NULL for no function. Borrows *p. */
const struct progress_out *libgitreach_progress(struct libgitreach_progress *p,
						gitreach_progress_fn fn,
						void *ctx);

/* ---- repositories */

struct gitreach_repo {
	atomic_uint users; /* the caller's handle, queries, sets */
	uint32_t flags;    /* it was opened with */
	struct repo *repo; /* owned, and so are: */
	struct odb *odb;
	struct pack_bitmap *pb; /* NULL: none that can be used, and: */
	struct error no_bitmap; /* why not */
	pthread_mutex_t lock;   /* guards what follows */
	struct refs *refs;      /* owned */
	/*
	 * Numbers of objects that sets have in common; a walk's own agree with
	 * them where objects are packed. It has a lock of its own.
	 */
	struct objspace space;
};

/* One user more; gitreach_repo_close() takes it back. */
gitreach_repo *libgitreach_repo_use(gitreach_repo *repo);

/*
 * The id of an object by name; with `lock` held by nobody. 0, ERR_MISSING,
 * ...
 */
int libgitreach_repo_resolve(gitreach_repo *repo, struct oid *oid,
			     const char *name, struct error *err);

/* A raw id of repo->pb, by its place among the ids; points into the index. */
const uint8_t *libgitreach_repo_index_id(const gitreach_repo *repo,
					 uint32_t idx_pos);

/* The bit of an id; false when the bitmap index, if any, does not have it. */
bool libgitreach_repo_bit(const gitreach_repo *repo, const uint8_t *raw,
			  uint32_t *bit_pos);

/* ---- queries */

struct oid_list {
	struct oid *items; /* owned */
	size_t nr, alloc;
};

struct gitreach_query {
	gitreach_repo *repo; /* used */
	struct oid_list wants, haves, shallow;
	struct filter filter; /* parsed; sparse patterns not read */
	char **specs;         /* owned: what it was parsed from */
	size_t spec_nr, spec_alloc;
	enum gitreach_strategy strategy;
	bool commits_only, filter_wants, inexact;
	unsigned threads;
	gitreach_progress_fn progress; /* NULL: none */
	void *progress_ctx;
};

/* Make the filter with all that it needs; release it in any case. */
int libgitreach_query_load_filter(struct filter *filter,
				  const gitreach_query *query,
				  struct error *err);

/* ---- sets */

/* Types are numbered from 0 as type bitmaps are (enum bitmap_type). */
struct gitreach_set {
	gitreach_repo *repo;  /* used */
	struct bitset packed; /* by bit_pos; no words without repo->pb */
	/* By type, and number in repo->space: what has no bit; no words for
	   none. */
	struct bitset others[BITMAP_TYPE_NR];
	struct gitreach_explanation how;
	struct error reason; /* how->reason is its message */
};

/* An empty set. */
int libgitreach_set_new(gitreach_set **out, gitreach_repo *repo,
			struct error *err);

/* Put an answer's objects into a set that is empty; `answer` is used up. */
int libgitreach_set_take(gitreach_set *set, struct pack_bitmap_answer *answer,
			 struct walk *w, bool commits_only, struct error *err);

/*
 * Visit the objects of these types as gitreach_set_each() does, with the hash
 * of one of their paths, 0 where that is not known. A return other than 0 stops
 * and is returned.
 */
int libgitreach_set_visit(const gitreach_set *set, uint32_t types,
			  int (*fn)(void *ctx, const struct oid *oid,
				    enum object_type type, uint32_t name_hash),
			  void *ctx, struct error *err);

/* ERR_CORRUPT names an object that only one of the two has. */
int libgitreach_set_same(const gitreach_set *by_bitmap,
			 const gitreach_set *by_walk, struct error *err);

#endif
