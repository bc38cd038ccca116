/* SPDX-License-Identifier: MIT */
/*
 * Reads refs in any kind of storage (refs-backend.h).
 *
 * With files, packed-refs is mapped and searched by prefix. The file is mapped
 * again if it has changed. The loose refs of a directory are listed on first
 * use, once per snapshot. Opening a snapshot reads nothing. Names are visited
 * in byte order, and a loose ref hides a packed ref of the same name.
 *
 * Each thread needs its own snapshot, because a snapshot reads on demand.
 */
#ifndef REFS_REFS_H
#define REFS_REFS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "object/oid.h"
#include "object/oidmap.h"
#include "object/refs-name.h"
#include "repo/repo.h"

/* A lookup follows at most this number of symbolic refs, like stock Git. */
#define REFS_SYMREF_MAX_DEPTH 5

struct refs_cached;
struct refs_peel_search;

struct odb;
struct refs;

struct ref {
	/*
	 * full name; in a visit, valid until the callback returns; after a
	 * lookup, valid until the next lookup or refs_close()
	 */
	const char *name;
	/* id of the object, after symbolic refs were followed */
	struct oid oid;
	/* name of the target if the ref is symbolic; else NULL */
	const char *target;
	/*
	 * Set after a lookup that returned ERR_CORRUPT. true: the ref is
	 * broken: its value is malformed or an id of zeros, or the chain of
	 * symbolic refs is too long. false: the storage of refs is damaged.
	 */
	bool is_broken;
	/* set if is_broken; true: the stored id consists of zeros */
	bool is_zero;
	/*
	 * set after a lookup that returned 0; true: the last ref that was read
	 * is symbolic, and no ref can have the name of its target, for instance
	 * "refs/../x"
	 */
	bool leads_nowhere;
	/*
	 * true: the storage of refs tells whether the ref points to a tag
	 * object, so is_tag is valid
	 */
	bool has_peeled;
	/*
	 * Valid if has_peeled. true: the ref points to a tag object, and
	 * `peeled` is the object to which the tag leads.
	 */
	bool is_tag;
	struct oid peeled;
};

/* Why a visit leaves a ref out. */
enum refs_flaw {
	/* the name is impossible */
	REFS_FLAW_NAME,
	/*
	 * the value is neither an id nor the name of a ref, or is an id of
	 * zeros
	 */
	REFS_FLAW_VALUE,
	/* a symbolic ref that leads to no id, or to itself */
	REFS_FLAW_SYMBOLIC,
	/* GIT_REF_PARANOIA is false, and the object is missing */
	REFS_FLAW_MISSING,
};

/*
 * Opens a snapshot of refs. *out is owned by the caller and borrows `repo`.
 * Returns 0 or a negative error code. As in stock Git, a wrong value of
 * core.logAllRefUpdates is an error even if no ref changes.
 */
int refs_open(struct refs **out, const struct repo *repo, struct error *err);
void refs_close(struct refs *refs);

/*
 * Begins a new snapshot in *refs: later calls see the refs as they are now.
 * Reads nothing. Lists of loose refs and stacks of reftables are read again at
 * their next use. packed-refs is mapped again only if the file has changed.
 * Not allowed during a visit. Results of refs_get_cached() become invalid.
 */
void refs_refresh(struct refs *refs);

/*
 * Visits all refs under "refs/" whose names start with `prefix` ("" or NULL:
 * all). Dangling symbolic refs and broken refs (malformed files) are left out;
 * *warning describes the last broken ref. If `fn` returns a nonzero value, the
 * visit stops and returns this value. Otherwise returns 0 or a negative error
 * code.
 *
 * The variable GIT_REF_PARANOIA has an effect on all visits except
 * refs_each_or_broken(). If the variable is false, refs to missing objects are
 * left out, too, and refs_each_strict() leaves out broken refs instead of
 * failing. If the variable is not a boolean, each visit fails with ERR_INVALID.
 */
int refs_each(struct refs *refs, const char *prefix,
	      int (*fn)(void *ctx, const struct ref *ref), void *ctx,
	      struct error *warning, struct error *err);

/*
 * Tells whether a ref whose name starts with `prefix` ("refs/x/") may be a tag
 * that peels to an object in search->ids (refs/packed-refs.h). Returns 1 if
 * there may be such a tag, 0 if there certainly is none, or a negative error
 * code. If there are many packed refs, this function is much faster than a
 * visit of them.
 */
int refs_may_peel(struct refs *refs, const char *prefix,
		  const struct refs_peel_search *search, struct error *err);

/*
 * A packed-refs file or a reftable stack can be kept in memory and be shared by
 * several requests (refs/refs-cache.h). Tells whether one such file or stack
 * has all refs whose names start with `prefix`. Returns 1 if so, and sets *out
 * to this file or stack; *out is valid until refs_close(). Returns 0 if there
 * may be other refs, or a negative error code.
 */
int refs_get_cached(const struct refs_cached **out, struct refs *refs,
		    const char *prefix, struct error *err);

/*
 * Visits refs like refs_each(), with the same return values, except refs in
 * the directories `except`. The directories end in a slash ("refs/x/") and are
 * in the order of strcmp(); NULL ends the list. One search skips a whole
 * directory.
 */
int refs_each_except(struct refs *refs, const char *prefix,
		     const char *const *except,
		     int (*fn)(void *ctx, const struct ref *ref), void *ctx,
		     struct error *warning, struct error *err);

/*
 * Visits refs like refs_each(), but leaves out names less than `start` (NULL:
 * visits all). Use it to continue an earlier visit without reading the refs
 * before `start`.
 *
 * `broken` is called with the name of a ref that `fn` does not get. Which refs
 * these are depends on the variable GIT_REF_PARANOIA:
 * - True (the default): refs with an invalid name or value, and symbolic refs
 *   that lead to no object id. Objects are not looked up, so `fn` also gets
 *   refs to missing objects.
 * - False: refs to missing objects. Refs with an invalid name or value, and
 *   symbolic refs that lead to no object id, are left out without a call.
 *
 * A nonzero return value of `broken` also ends the visit and is returned. The
 * other return values are those of refs_each().
 */
int refs_each_from(struct refs *refs, const char *prefix, const char *start,
		   int (*fn)(void *ctx, const struct ref *ref),
		   int (*broken)(void *ctx, const char *name,
				 enum refs_flaw flaw),
		   void *ctx, struct error *err);

/*
 * Visits the root refs of this work tree (refs_name_is_root()), in the order
 * of their names. Dangling symbolic refs are left out. Returns the same values
 * as refs_each().
 */
int refs_each_root(struct refs *refs,
		   int (*fn)(void *ctx, const struct ref *ref), void *ctx,
		   struct error *warning, struct error *err);

/*
 * Visits the stored refs: first the root refs, then the refs below "refs/",
 * both in the order of their names. Symbolic refs are not followed: ref->target
 * is the stored target. A broken ref is visited with ref->is_broken set. For
 * callers that copy all refs. If `fn` returns a nonzero value, the visit stops
 * and returns this value. Otherwise returns 0, ERR_CORRUPT if a record is out
 * of order, or another negative error code.
 */
int refs_each_stored(struct refs *refs,
		     int (*fn)(void *ctx, const struct ref *ref), void *ctx,
		     struct error *err);

/*
 * Visits refs like refs_each(), for callers that must not miss an object. A
 * broken ref ends the visit with ERR_CORRUPT ("bad object <ref>"). If `prefix`
 * is empty, a record of packed-refs that is out of order or not below "refs/"
 * also ends the visit with ERR_CORRUPT. Symbolic refs that lead to no object,
 * such as dangling or circular ones, are left out.
 */
int refs_each_strict(struct refs *refs, const char *prefix,
		     int (*fn)(void *ctx, const struct ref *ref), void *ctx,
		     struct error *err);

/*
 * From now on, refs_each_strict() leaves out broken refs and refs to missing
 * objects. Only for callers that delete no objects, so that a ref that is left
 * out does no harm.
 */
void refs_leave_out_broken(struct refs *refs);
bool refs_leaves_out_broken(const struct refs *refs);

/*
 * Works like refs_each_from() with a `start` of NULL, but ignores
 * GIT_REF_PARANOIA.
 */
int refs_each_or_broken(struct refs *refs, const char *prefix,
			int (*fn)(void *ctx, const struct ref *ref),
			int (*broken)(void *ctx, const char *name,
				      enum refs_flaw flaw),
			void *ctx, struct error *err);

/*
 * Lists all refs now, not at their first use. Packs that are opened afterwards
 * then have the objects that the listed refs name. Returns 0 or a negative
 * error code.
 */
int refs_list_now(struct refs *refs, struct error *err);

/*
 * Looks up a ref by its full name ("HEAD", "refs/heads/main"), and follows up
 * to five symbolic refs. Strings in *ref are valid until the next call or
 * refs_close(). Returns 1 if there is such a ref, 0 if not, ERR_CORRUPT for a
 * broken ref, or another negative error code. For a symbolic ref to an unborn
 * branch, returns 0 with ref->target set.
 */
int refs_lookup(struct refs *refs, const char *name, struct ref *ref,
		struct error *err);

/*
 * Looks up HEAD for callers that must not miss an object.
 *
 * Returns 1 if HEAD leads to an object. Returns 0 if HEAD is missing, or if
 * HEAD is symbolic and leads to no object: its target is missing or broken, or
 * the symbolic refs form a circle. A broken target is no error here, because
 * these callers also call refs_each_strict(), which visits the target and
 * reports it. A circle names no object, so no object is missed. Returns
 * ERR_CORRUPT ("bad object HEAD") if HEAD itself is broken, or another negative
 * error code. Strings in *ref are valid as after refs_lookup().
 */
int refs_lookup_head(struct refs *refs, struct ref *ref, struct error *err);

/*
 * Visits the HEADs of the other work trees, by names such as "worktrees/x/HEAD"
 * and "main-worktree/HEAD". Unborn HEADs are left out. If `fn` returns a
 * nonzero value, the visit stops and returns this value. Otherwise returns 0 or
 * a negative error code.
 */
int refs_each_other_head(struct refs *refs,
			 int (*fn)(void *ctx, const struct ref *ref), void *ctx,
			 struct error *err);

/*
 * Reads one ref without following symbolic refs. Sets ref->target if the ref is
 * symbolic, else ref->oid. The name is not validated. Returns 1 if there is
 * such a ref, 0 if not, ERR_CORRUPT for a broken ref, or another negative error
 * code.
 */
int refs_read(struct refs *refs, const char *name, struct ref *ref,
	      struct error *err);

/*
 * Works like refs_read(), with one difference. If a symbolic ref stores a text
 * that cannot be the name of a ref, returns 1 with ref->target set to this text
 * and ref->leads_nowhere set. For callers that copy refs and do not follow
 * them.
 */
int refs_read_stored(struct refs *refs, const char *name, struct ref *ref,
		     struct error *err);

/*
 * Looks up a short name, which is expanded as in gitrevisions(7): <name>,
 * refs/<name>, refs/tags/<name>, refs/heads/<name>, refs/remotes/<name>,
 * refs/remotes/<name>/HEAD. Returns 1 if one of these refs exists, 0 if none
 * does, or a negative error code of refs_lookup(). As in stock Git, a ref with
 * an id of zeros exists; refs_dwim_nr() and refs_dwim_each() count it, too.
 */
int refs_dwim(struct refs *refs, const char *name, struct ref *ref,
	      struct error *err);

/*
 * Returns the number of refs to which a short name expands, or a negative error
 * code. Broken refs are not counted. For each broken ref a line "warning:
 * ignoring ..." is appended to *notes, unless notes is NULL.
 */
int refs_dwim_nr(struct refs *refs, const char *name, struct buf *notes,
		 struct error *err);

/*
 * Visits the refs to which a short name expands, in the order of refs_dwim().
 * Broken refs are not visited. If `fn` returns a nonzero value, the visit
 * stops and returns this value. Otherwise returns 0 or a negative error code.
 */
int refs_dwim_each(struct refs *refs, const char *name,
		   int (*fn)(void *ctx, const struct ref *ref), void *ctx,
		   struct error *err);

/*
 * Visits the objects that must be kept because a HEAD, a per-worktree ref
 * (refs/bisect/ and so on) or a reflog entry of any work tree names them. `fn`
 * gets each nonzero id, maybe several times. If `fn` returns a nonzero value,
 * the visit stops and returns this value. Otherwise returns 0 or a negative
 * error code. Used by repack and pack-objects --reflog. See names/index-file.h
 * for objects that index files name.
 */
int refs_each_reflog_oid(const struct repo *repo,
			 int (*fn)(void *ctx, const struct oid *oid), void *ctx,
			 struct error *err);

/*
 * Fills the table of replaced objects of `odb` (odb/replaced.h) from
 * refs/replace/, or from the prefix in GIT_REPLACE_REF_BASE. The table stays
 * empty if core.useReplaceRefs is false or GIT_NO_REPLACE_OBJECTS is in the
 * environment. A ref whose name does not end in an id is left out and described
 * in *warning. Call this function before readers of `odb` are made. Returns 0,
 * ERR_INVALID for bad configuration, or another error of refs_each().
 */
int refs_load_replaced(struct refs *refs, struct odb *odb,
		       struct error *warning, struct error *err);

#endif
