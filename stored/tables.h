/* SPDX-License-Identifier: MIT */
/*
 * The refs of a generation (a version of a repository in a store). The refs
 * come from the generation's tables. Updates in the generation's record replace
 * values of the tables. The value of a ref has the form of stored/layout.h.
 */
#ifndef STORED_TABLES_H
#define STORED_TABLES_H

#include "reftable/stack.h"
#include "stored/cache.h"

struct stored_tables {
	const struct generation *g; /* borrowed */
	struct reftable_stack stack;
	enum hash_algo algo;
};

/*
 * Opens the refs of `g`, a generation (a version of a repository in a store).
 * *g is borrowed until the release. Downloads reftables of the generation that
 * are not in the cache. Returns 0 or a negative error code. After an error, *t
 * is released.
 */
int stored_tables_open(struct stored_tables *t, struct stored_cache *cache,
		       const struct generation_place *place,
		       const struct generation *g, struct error *err);
void stored_tables_release(struct stored_tables *t);

/*
 * Appends the value of a ref to *value, or nothing if there is no such ref.
 * Returns 0 or a negative error code.
 */
int stored_tables_find(const struct stored_tables *t, struct buf *value,
		       const char *ref, struct error *err);

/*
 * Calls `fn` for each ref, in the order of names. `ref` and `value` are valid
 * during the call of `fn`. A nonzero result of `fn` ends the visit and is
 * returned. Returns 0 or a negative error code otherwise.
 */
int stored_tables_each(const struct stored_tables *t,
		       int (*fn)(void *ctx, const char *ref, const char *value,
				 struct error *err),
		       void *ctx, struct error *err);

/*
 * Looks for a conflict of names in the tables, as between "a" and "a/b": a ref
 * that cannot exist together with a new ref `ref`. Changes of refs that are
 * newer than the tables are not considered. `ignores` returns whether to ignore
 * a conflicting ref. Returns 1 if there is a conflict, 0 if not, or a negative
 * error code.
 */
int stored_tables_collide(const struct stored_tables *t, const char *ref,
			  bool (*ignores)(void *ctx, const char *ref),
			  void *ctx, struct error *err);

/* Returns whether two generations have the same tables. */
bool stored_tables_are_same(const struct generation *a,
			    const struct generation *b);

/* ---- refs that differ between two generations */

struct stored_change {
	char *ref; /* owned */
	/* owned: the values; NULL: there is no such ref */
	char *before, *after;
};

struct stored_changes {
	/* owned, in the order of names */
	struct stored_change *items;
	size_t nr, alloc;
};

/*
 * Finds the refs that differ between two generations; `before` is NULL for a
 * repository that did not exist.
 *
 * A generation stores its refs in two places: in tables, and in the list
 * g->updates of the refs that were changed after the tables were written. If
 * both generations have the same tables, compares only those refs in the list
 * of `after` that were changed after the generation `before`. Otherwise
 * compares all refs.
 *
 * The caller releases *out in any case. Returns 0 or a negative error code.
 */
int stored_changes_find(struct stored_changes *out, struct stored_cache *cache,
			const struct generation_place *place,
			const struct generation *before,
			const struct generation *after, struct error *err);
void stored_changes_release(struct stored_changes *changes);

#endif
