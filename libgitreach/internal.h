/* SPDX-License-Identifier: MIT */
/* Declarations that the files of the public interface share. */
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
#include "trees/objspace.h"
#include "walk/filter.h"

/* ---- errors */

struct gitreach_error {
	struct error error;
};

/*
 * Returns the struct error inside the caller's gitreach_error, or NULL if `err`
 * is NULL.
 */
static inline struct error *libgitreach_error(gitreach_error *err)
{
	return err ? &err->error : NULL;
}

/* Returns 0, or ERR_INVALID if not all required arguments are given. */
static inline int libgitreach_need(bool are_given, struct error *err)
{
	return are_given ? 0
			 : error_set(err, ERR_INVALID,
				     "a required argument is NULL");
}

/*
 * Call this at the end of a public function. If the function succeeded, clears
 * `err`, because a step that failed without harm may have set it. Returns
 * `ret`.
 */
static inline int libgitreach_done(int ret, gitreach_error *err)
{
	if (ret >= 0 && err)
		err->error = (struct error)ERROR_INIT;
	return ret;
}

/*
 * Call this if a callback of the user has ended a public function with the
 * value `ret`, which is not 0. Returns the result of the public function: `ret`
 * if it is positive, or GITREACH_CANCELLED if it is negative.
 */
static inline int libgitreach_stopped(int ret, struct error *err)
{
	return ret > 0 ? ret
		       : error_set(err, ERR_CANCELLED,
				   "ended by a callback of the caller");
}

/*
 * ---- structs with a size in their first member, which later versions extend
 */

/*
 * Copy `len` bytes at `in` to the caller's struct, but not more than out->size.
 * out->size itself is not changed. Returns 0, or ERR_INVALID if out->size is
 * too small to hold the member `size` itself.
 */
int libgitreach_struct_out(void *out, const void *in, size_t len,
			   struct error *err);

/*
 * Copy the caller's struct `in` to `len` bytes at `out`. Members that the
 * caller's struct lacks are set to 0. If `in` is NULL, all members are set to
 * 0. Returns 0, or ERR_UNSUPPORTED if the caller sets a member that this
 * version does not know.
 */
int libgitreach_struct_in(void *out, const void *in, size_t len,
			  struct error *err);

/* ---- progress */

/*
 * Adapts the caller's progress function to struct progress_out, which internal
 * functions use.
 */
struct libgitreach_progress {
	struct progress_out out;
	gitreach_progress_fn fn;
	void *ctx;
	/*
	 * The callback has cancelled the work, so no progress is reported any
	 * more.
	 */
	atomic_bool is_cancelled;
};

/*
 * Initialise *p for `fn`. Returns the progress_out for internal functions,
 * which borrows *p, or NULL if `fn` is NULL.
 */
const struct progress_out *libgitreach_progress(struct libgitreach_progress *p,
						gitreach_progress_fn fn,
						void *ctx);

/*
 * Calls `fn` (NULL: does nothing) before the work begins. Returns 0, or
 * ERR_CANCELLED if `fn` ends the work.
 */
int libgitreach_progress_begin(gitreach_progress_fn fn, void *ctx,
			       struct error *err);

/* ---- repositories */

struct gitreach_repo {
	/*
	 * reference count: one for the caller's handle, and one for each query
	 * and set
	 */
	atomic_uint users;
	/* the flags that were given to gitreach_repo_open() */
	uint32_t flags;
	struct repo *repo; /* owned */
	struct odb *odb;
	/* owned: the bitmap index; NULL: there is no usable bitmap index */
	struct pack_bitmap *pb;
	struct error no_bitmap; /* why pb is NULL */
	pthread_mutex_t lock;   /* guards `refs` */
	struct refs *refs;      /* owned */
	/*
	 * Numbers objects, so that sets can also have objects that have no bit
	 * in the bitmap index. All sets of this repository share these numbers.
	 * A walk (struct walk) over this repository numbers objects in another
	 * objspace, its own. A packed object usually has the same number in
	 * `space` and in the objspace of the walk. A loose object may have two
	 * different numbers. An objspace has a lock of its own, so `lock` need
	 * not be held to use `space`.
	 */
	struct objspace space;
};

/*
 * Increment the reference count and return `repo`. gitreach_repo_close()
 * decrements the count.
 */
gitreach_repo *libgitreach_repo_use(gitreach_repo *repo);

/*
 * Set *oid to the raw id at `id`, of `id_len` bytes. Returns 0, or ERR_INVALID
 * if `id` is NULL or the repository has ids of another length.
 */
int libgitreach_repo_id(struct oid *oid, const gitreach_repo *repo,
			const uint8_t *id, size_t id_len, struct error *err);

/*
 * Set *oid to the object that `name` means. The caller must not hold `lock`.
 * Returns 0, ERR_MISSING if there is no such object, or another negative error
 * code.
 */
int libgitreach_repo_resolve(gitreach_repo *repo, struct oid *oid,
			     const char *name, struct error *err);

/*
 * Returns the raw id of the object at position idx_pos of the bitmap index
 * repo->pb. The id is borrowed from the index.
 */
const uint8_t *libgitreach_repo_index_id(const gitreach_repo *repo,
					 uint32_t idx_pos);

/*
 * Set *bit_pos to the bit of an id. Returns false if there is no bitmap index
 * or if the index does not have the id.
 */
bool libgitreach_repo_bit(const gitreach_repo *repo, const uint8_t *raw,
			  uint32_t *bit_pos);

/* ---- queries */

struct oid_list {
	struct oid *items; /* owned */
	size_t nr, alloc;
};

struct gitreach_query {
	gitreach_repo *repo; /* a counted reference */
	struct oid_list wants, haves, shallow;
	/*
	 * the parsed filter; the patterns of sparse filters are read by each
	 * run
	 */
	struct filter filter;
	/* owned: the strings that the filter was parsed from */
	char **specs;
	size_t spec_nr, spec_alloc;
	/*
	 * owned: prefixes of the references that gitreach_query_exclude_refs()
	 * leaves out
	 */
	char **excluded;
	size_t excluded_nr, excluded_alloc;
	enum gitreach_strategy strategy;
	bool commits_only, filter_wants, inexact;
	unsigned threads;
	/* NULL: no progress is reported */
	gitreach_progress_fn progress;
	void *progress_ctx;
};

/*
 * Initialise *filter from the query, and load the patterns of sparse filters.
 * Returns 0 or a negative error code. The caller must release the filter in
 * both cases.
 */
int libgitreach_query_load_filter(struct filter *filter,
				  const gitreach_query *query,
				  struct error *err);

/* ---- sets */

/*
 * A set of objects. Types are array indexes in the order of enum bitmap_type.
 */
struct gitreach_set {
	gitreach_repo *repo; /* a counted reference */
	/*
	 * indexed by bit_pos: the objects that have a bit in the bitmap index;
	 * empty if repo->pb is NULL
	 */
	struct bitset packed;
	/*
	 * Objects without a bit in the bitmap index. There is one bitset for
	 * each type, indexed by the object's number in repo->space. An empty
	 * bitset means that there are no such objects of the type.
	 */
	struct bitset others[BITMAP_TYPE_NR];
	struct gitreach_explanation how;
	/* why bitmaps were not used; how.reason points to its message */
	struct error reason;
};

/* Create an empty set. Returns 0 or ERR_NOMEM. */
int libgitreach_set_new(gitreach_set **out, gitreach_repo *repo,
			struct error *err);

/*
 * Move the objects of a query's result into an empty set. The function moves
 * the memory of the bits from `answer` to the set, so `answer` must not be used
 * again. Returns 0 or a negative error code.
 */
int libgitreach_set_take(gitreach_set *set, struct pack_bitmap_answer *answer,
			 struct walk *w, bool commits_only, struct error *err);

/*
 * Keeps in each of `nr` sets of one snapshot only the objects that none of the
 * other sets has. Returns 0 or ERR_NOMEM. After ERR_NOMEM, objects may have
 * been removed from some of the sets.
 */
int libgitreach_set_keep_unique(gitreach_set **sets, size_t nr,
				struct error *err);

/*
 * Visit the objects whose types are in `types`, in the order of
 * gitreach_set_each(). `name_hash` is the path hash of one of the object's
 * paths, or 0 if it is not known. Stops if `fn` returns another value than 0,
 * and returns that value.
 */
int libgitreach_set_visit(const gitreach_set *set, uint32_t types,
			  int (*fn)(void *ctx, const struct oid *oid,
				    enum object_type type, uint32_t name_hash),
			  void *ctx, struct error *err);

/*
 * Compare two sets. Returns 0 if they are equal. Returns ERR_CORRUPT with a
 * message that names an object that only one of the sets has, or another
 * negative error code.
 */
int libgitreach_set_same(const gitreach_set *by_bitmap,
			 const gitreach_set *by_walk, struct error *err);

#endif
