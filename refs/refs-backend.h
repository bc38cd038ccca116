/* SPDX-License-Identifier: MIT */
/*
 * The functions that read the refs of one kind of storage. refs.c chooses the
 * table of functions by extensions.refStorage. Functions that change refs are
 * in other tables. The layers, with the callers at the top:
 *
 *   refs-write/     reflog.c          refs-check.c
 *      |               |                 |
 *      |            reflog_backend    two functions
 *      |               |                 |
 *      |            reflog-files.c    refs-check.c -packed.c
 *      |            reflog-list.c
 *      |            reflog-           refs-check-
 *      |             reftable.c        reftable.c
 *      |               |                 |
 *      +---------+-----+-----------------+
 *                |
 *             refs.c
 *                |
 *           refs_backend                  this header
 *            |        |
 *   refs-files.c    refs-reftable.c       and -kept.c of both
 *            |        |
 *   packed-refs.c   refs-reftable-place.c
 *   refs-loose.c
 *
 * A backend reads and lists single refs. A backend does not follow symbolic
 * refs.
 */
#ifndef REFS_REFS_BACKEND_H
#define REFS_REFS_BACKEND_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "object/oid.h"
#include "refs/refs.h"
#include "repo/repo.h"

enum refs_record_kind {
	REFS_RECORD_OID,      /* an object id */
	REFS_RECORD_SYMBOLIC, /* the name of another ref */
	/*
	 * the value is neither an id nor a ref name, or the name of the ref
	 * itself is not valid
	 */
	REFS_RECORD_BROKEN,
};

/* A ref as it is stored. Its strings are valid until the iterator moves. */
struct refs_record {
	enum refs_record_kind kind;
	/*
	 * With REFS_RECORD_OID, all fields are set. With REFS_RECORD_SYMBOLIC
	 * only name and target are set, with REFS_RECORD_BROKEN only the name.
	 * The target is the stored text, which need not be a possible name of a
	 * ref.
	 */
	struct ref ref;
};

/*
 * An iterator over refs in the order of names. Each backend has its own
 * definition of this type.
 */
struct refs_iter;

/*
 * A snapshot of refs. Each backend's own snapshot has this struct as its first
 * member.
 */
struct refs {
	const struct refs_backend *backend;
	const struct repo *repo; /* borrowed */
	/*
	 * strings of the last lookup: the ref's name, and the target of a
	 * symbolic ref
	 */
	struct buf name, target;
	/* true: refs_leave_out_broken() was called */
	bool no_broken;
};

struct refs_backend {
	/*
	 * Opens a snapshot. refs.c sets the fields of struct refs. Returns 0 or
	 * a negative error code.
	 */
	int (*open)(struct refs **out, const struct repo *repo,
		    struct error *err);
	void (*close)(struct refs *refs);
	/* See refs_refresh(). */
	void (*refresh)(struct refs *refs);
	/*
	 * Reads one ref without following symbolic refs. *target is empty
	 * before the call. Returns 1 with the values of *ref set, or with
	 * *target set if the ref is symbolic. Returns 0 if there is no such
	 * ref, ERR_CORRUPT for a broken ref, or another negative error code.
	 *
	 * If a symbolic ref stores a target that no ref can have as a name,
	 * returns 0 with ref->leads_nowhere and *target set. For instance, HEAD
	 * leads to "refs/heads/.invalid" while Git clones, until the branch is
	 * known.
	 */
	int (*read)(struct refs *refs, const char *name, struct ref *ref,
		    struct buf *target, struct error *err);
	/* See refs_list_now(). */
	int (*list_now)(struct refs *refs, struct error *err);
	/*
	 * Starts an iteration over refs whose names start with `prefix`. The
	 * prefix starts with "refs/" and is borrowed. With `strict`, a record
	 * that is out of order is ERR_CORRUPT, because a search could miss it.
	 * Returns 0 or a negative error code.
	 */
	int (*iter_new)(struct refs_iter **out, struct refs *refs,
			const char *prefix, bool strict, struct error *err);
	/*
	 * Sets *record to the next ref. Returns 1 if there was a ref, 0 at the
	 * end, or a negative error code.
	 */
	int (*iter_next)(struct refs_iter *iter, struct refs_record *record,
			 struct error *err);
	/*
	 * Searches forward for the first name that is not less than `name`.
	 * Returns 0 or a negative error code.
	 */
	int (*iter_seek)(struct refs_iter *iter, const char *name,
			 struct error *err);
	void (*iter_free)(struct refs_iter *iter);
	/* See refs_may_peel(). May be NULL: refs_may_peel() then returns 1. */
	int (*may_peel)(struct refs *refs, const char *prefix,
			const struct refs_peel_search *search,
			struct error *err);
	/* See refs_get_cached(). May be NULL: refs_get_cached() then returns 0.
	 */
	int (*get_cached)(const struct refs_cached **out, struct refs *refs,
			  const char *prefix, struct error *err);

	/*
	 * Calls `fn` with the name of each root ref (refs_name_is_root()), in
	 * any order.
	 */
	int (*each_root)(struct refs *refs,
			 int (*fn)(void *ctx, const char *name), void *ctx,
			 struct error *err);
	/*
	 * Calls `fn` with each object id that reflogs keep alive, with the
	 * return values of refs_each_reflog_oid().
	 */
	int (*each_kept)(const struct repo *repo,
			 int (*fn)(void *ctx, const struct oid *oid), void *ctx,
			 struct error *err);
};

extern const struct refs_backend refs_files_backend;
extern const struct refs_backend refs_reftable_backend;

#endif
