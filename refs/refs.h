/* SPDX-License-Identifier: MIT */
/*
 * References, however the repository keeps them (refs-backend.h).
 *
 * In files: packed-refs is mapped (searched by prefix in place, never read
 * whole to answer about a few), and mapped anew when it has changed; loose
 * refs are listed when first asked for their directory, and not again. Opening
 * reads nothing yet. Names are visited in byte order; a loose ref hides a
 * packed one.
 *
 * One snapshot per thread (it fills itself in lazily).
 */
#ifndef REFS_REFS_H
#define REFS_REFS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "object/oid.h"
#include "object/oidmap.h"
#include "object/refs-name.h"
#include "repo/repo.h"

struct odb;
struct refs;

struct ref {
	const char *name;   /* valid during the call / until refs_close() */
	struct oid oid;     /* what it names, symrefs followed */
	const char *target; /* symbolic: the ref it leads to; else NULL */
	bool is_zero;       /* with ERR_CORRUPT: the stored id is all zeros */
	bool has_peeled;    /* the store says what the tag peels to, */
	bool is_tag;        /*   ... and it is a tag: `peeled` is set */
	struct oid peeled;
};

/* 0 with *out owned by the caller (borrows repo), or a negative error. */
int refs_open(struct refs **out, const struct repo *repo, struct error *err);
void refs_close(struct refs *refs);

/*
 * Visit all refs under "refs/" whose name starts with `prefix` ("" or NULL:
 * all). Dangling symrefs are left out, and so are refs that are broken
 * (malformed files), which are described in *warning. A nonzero return stops
 * and is returned.
 */
int refs_each(struct refs *refs, const char *prefix,
	      int (*fn)(void *ctx, const struct ref *ref), void *ctx,
	      struct error *warning, struct error *err);

/*
 * Whether a ref whose name starts with `prefix` ("refs/x/") may be a tag that
 * peels to one of `ids`: 0 when surely none is, which takes much less than a
 * visit to all where they are many and packed; else 1, or negative.
 */
int refs_may_peel(struct refs *refs, const char *prefix,
		  const struct oidmap *ids, struct error *err);

/*
 * As refs_each(), without the refs in the directories `except` ("refs/x/",
 * each with its slash, in the order of strcmp(); NULL after the last): they are
 * stepped over by a search, not one by one.
 */
int refs_each_except(struct refs *refs, const char *prefix,
		     const char *const *except,
		     int (*fn)(void *ctx, const struct ref *ref), void *ctx,
		     struct error *warning, struct error *err);

/*
 * As refs_each(), without the names that are less than `start` (NULL: all):
 * where a visit that ended goes on, without a look at what came before.
 */
int refs_each_from(struct refs *refs, const char *prefix, const char *start,
		   int (*fn)(void *ctx, const struct ref *ref), void *ctx,
		   struct error *warning, struct error *err);

/*
 * As refs_each() for the root refs of this work tree (refs_name_is_root()), in
 * the order of their names; a symbolic one that leads nowhere is passed over.
 */
int refs_each_root(struct refs *refs,
		   int (*fn)(void *ctx, const struct ref *ref), void *ctx,
		   struct error *warning, struct error *err);

/*
 * As refs_each() for those who must not miss an object that is named: a broken
 * ref is ERR_CORRUPT ("bad object <ref>"), and so is, where all refs are
 * visited, a record of packed-refs that is out of order or not below "refs/".
 * Dangling symrefs name nothing and are left out.
 */
int refs_each_strict(struct refs *refs, const char *prefix,
		     int (*fn)(void *ctx, const struct ref *ref), void *ctx,
		     struct error *err);

/*
 * As refs_each(), and `broken` gets the name of each ref that is left out. Its
 * nonzero return stops, too, and is returned.
 */
int refs_each_or_broken(struct refs *refs, const char *prefix,
			int (*fn)(void *ctx, const struct ref *ref),
			int (*broken)(void *ctx, const char *name), void *ctx,
			struct error *err);

/*
 * Take the listing of all refs now instead of on first use: an object that a
 * listed ref names is in packs that are looked for afterwards.
 */
int refs_list_now(struct refs *refs, struct error *err);

/*
 * Look up one full name ("HEAD", "refs/heads/main"), following symbolic refs
 * (at most 5). *ref is filled in; its strings live until the next call or
 * refs_close(). Returns 1, 0 when there is no such ref (for a symbolic ref to
 * an unborn branch: 0 with ref->target set), or a negative error for a broken
 * one.
 */
int refs_lookup(struct refs *refs, const char *name, struct ref *ref,
		struct error *err);

/*
 * Read one ref without following it: ref->target is what it names when it is
 * symbolic, else ref->oid is set. Returns as refs_lookup(); names are not
 * judged.
 */
int refs_read(struct refs *refs, const char *name, struct ref *ref,
	      struct error *err);

/*
 * Expand a short name as gitrevisions(7) says: <name>, refs/<name>,
 * refs/tags/<name>, refs/heads/<name>, refs/remotes/<name>,
 * refs/remotes/<name>/HEAD. As refs_lookup().
 */
int refs_dwim(struct refs *refs, const char *name, struct ref *ref,
	      struct error *err);

/*
 * Objects that other refs keep alive besides refs/: HEADs and private refs
 * (refs/bisect/ and so on) of all worktrees, and entries of all reflogs. `fn`
 * gets each id (zero ids left out; duplicates are possible). For repack and
 * pack-objects --reflog; what indexes keep alive is in names/index-file.h.
 */
int refs_each_reflog_oid(const struct repo *repo,
			 int (*fn)(void *ctx, const struct oid *oid), void *ctx,
			 struct error *err);

/*
 * Fill the table of replaced objects of `odb` (odb/replaced.h) from
 * refs/replace/, or from the prefix in GIT_REPLACE_REF_BASE. The table stays
 * empty with core.useReplaceRefs=false or GIT_NO_REPLACE_OBJECTS in the
 * environment. A ref whose name does not end in an id is left out and described
 * in *warning. Call this before readers of `odb` are made. Returns 0,
 * ERR_INVALID for configuration, or another error of refs_each().
 */
int refs_load_replaced(struct refs *refs, struct odb *odb,
		       struct error *warning, struct error *err);

#endif
