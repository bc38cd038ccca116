/* SPDX-License-Identifier: MIT */
/*
 * Functions that read the refs of one kind of storage. refs.c chooses the table
 * of functions by extensions.refStorage. Functions that change refs are in
 * other tables, and their callers may use refs.h:
 *
 *   ref-transaction.c   reflog.c          ref-pack.c     refs-check.c
 *      |                   |                 |              |
 *   ref_tx_backend      reflog_backend    two pairs of functions
 *      |                   |                 |              |
 *   refs-files-lock.c   reflog-files.c    refs-files-    refs-check-
 *   -conflict -commit   reflog-list.c      pack.c         loose.c -packed.c
 *   refs-reftable-      reflog-           refs-reftable- refs-check-
 *    tx.c -stage.c       reftable.c        pack.c         reftable.c
 *      |                   |                 |              |
 *      +---------+---------+-----------------+--------------+
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
 * A backend reads and lists single refs. It does not follow symbolic refs.
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
	REFS_RECORD_OID,      /* names an object */
	REFS_RECORD_SYMBOLIC, /* names another ref */
	REFS_RECORD_BROKEN,   /* neither, or an impossible name */
};

/* A ref as it is stored. Strings live until the iterator moves. */
struct refs_record {
	enum refs_record_kind kind;
	/*
	 * REFS_RECORD_OID: what visitors get. Else only its name is set, and
	 * with REFS_RECORD_SYMBOLIC its target, the ref that it names.
	 */
	struct ref ref;
};

/* Refs in the order of their names; each backend has its own kind. */
struct refs_iter;

/* What all snapshots begin with; a backend's own follows. */
struct refs {
	const struct refs_backend *backend;
	const struct repo *repo; /* borrowed */
	struct buf name, target; /* strings of the last lookup */
};

struct refs_backend {
	/* A snapshot; its first member is a struct refs, filled in by refs.c.
	 */
	int (*open)(struct refs **out, const struct repo *repo,
		    struct error *err);
	void (*close)(struct refs *refs);
	/*
	 * Read one ref: 1 with ref's values set, or *target, which is empty
	 * before, when it is symbolic; 0; ERR_CORRUPT for a broken one. A HEAD
	 * that leads to an impossible name is not there: in a clone that Git
	 * is making it is "refs/heads/.invalid" until the branch is known.
	 */
	int (*read)(struct refs *refs, const char *name, struct ref *ref,
		    struct buf *target, struct error *err);
	/* See refs_list_now(). */
	int (*list_now)(struct refs *refs, struct error *err);
	/*
	 * Iterate over the refs whose name starts with `prefix`, which starts
	 * with "refs/" and is borrowed. `strict`: what is out of order and
	 * might be missed is ERR_CORRUPT.
	 */
	int (*iter_new)(struct refs_iter **out, struct refs *refs,
			const char *prefix, bool strict, struct error *err);
	/* 1 with the next one in *record, 0 at the end, or negative. */
	int (*iter_next)(struct refs_iter *iter, struct refs_record *record,
			 struct error *err);
	/* Go on with the first name that is not less, by a search. */
	int (*iter_seek)(struct refs_iter *iter, const char *name,
			 struct error *err);
	void (*iter_free)(struct refs_iter *iter);
	/* See refs_may_peel(); NULL: always 1. */
	int (*may_peel)(struct refs *refs, const char *prefix,
			const struct oidmap *ids, struct error *err);

	/* Call `fn` with the names of root refs, in no order. */
	int (*each_root)(struct refs *refs,
			 int (*fn)(void *ctx, const char *name), void *ctx,
			 struct error *err);
	/* See refs_each_reflog_oid(). */
	int (*each_kept)(const struct repo *repo,
			 int (*fn)(void *ctx, const struct oid *oid), void *ctx,
			 struct error *err);
};

extern const struct refs_backend refs_files_backend;
extern const struct refs_backend refs_reftable_backend;

#endif
