/* SPDX-License-Identifier: MIT */
/*
 * The refs that one client may see: those of the client's namespace
 * (gitnamespaces(7)), without the prefix of the namespace, and without hidden
 * refs. Refs are hidden by transfer.hideRefs, and by uploadpack.hideRefs for
 * fetches or receive.hideRefs for pushes.
 *
 * A view is used by one thread only.
 */
#ifndef WIRE_REFVIEW_H
#define WIRE_REFVIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "refs/refs.h"
#include "repo/repo.h"

/* One hideRefs value. */
struct refview_rule {
	/* owned, without trailing slashes */
	char *pattern;
	size_t len; /* bytes of the pattern */
	/* true: the pattern began with "!": matching refs are visible */
	bool is_exposed;
	/*
	 * true: the pattern began with "^". It is compared with full names,
	 * which begin with the prefix of the namespace.
	 */
	bool is_full;
};

/* All rules of a service. */
struct refview_rules {
	/* owned; the last rule that matches a ref decides */
	struct refview_rule *rules;
	size_t nr, alloc;
};

/*
 * Add the hide rule that a configuration value describes. Returns 0 or
 * ERR_NOMEM.
 */
int refview_rules_add(struct refview_rules *rules, const char *value);
void refview_rules_release(struct refview_rules *rules);

/*
 * Set *id to the SHA-256 of all rules, in their order. Two views of a
 * repository with equal ids hide the same refs, if neither has a namespace.
 * Returns 0 or ERR_NOMEM.
 */
int refview_rules_id(struct oid *id, const struct refview_rules *rules);

/*
 * Returns whether the rules hide a ref. A pattern matches the ref whose name is
 * the pattern, and all refs below that ref. `name` is the name that clients
 * see; NULL: the ref is outside of the namespace, so only patterns with "^" can
 * match. `full` is the name with the prefix of the namespace.
 */
bool refview_rules_hide(const struct refview_rules *rules, const char *name,
			const char *full);

/* An open view of refs. */
struct refview {
	struct refs *refs; /* owned */
	/* "refs/namespaces/<name>/"; empty without a namespace */
	struct buf prefix;
	/* scratch buffer: a name with the prefix of the namespace */
	struct buf full;
	struct refview_rules rules;
	/* number of refs that were read through this view */
	uint64_t looked_at;
	/*
	 * Owned: full names of directories whose refs are not listed. The
	 * reason is one of these: a hide rule matches all refs below the
	 * directory, and no later rule shows some of them again; or the
	 * directory is that of the namespace, and the pattern of a hide rule is
	 * empty (skips_namespace() in refview.c has the details). Each name has
	 * a slash at the end. Sorted. NULL after the last one.
	 */
	char **skips;
	/*
	 * Owned: sorted full names, ended by NULL, that divide all names into
	 * ranges. Either all names of a range are hidden, or none is.
	 */
	char **bounds;
};

/*
 * Open the view of namespace `name`. NULL or "": no namespace; "a/b": the
 * namespace b within a. `hide_key` is the service's own key in lower case, for
 * example "uploadpack.hiderefs". Returns 0 or a negative error code:
 * ERR_INVALID if `name` is not valid ("a/", ".."). The caller must release the
 * view in all cases.
 */
int refview_open(struct refview *view, const struct repo *repo,
		 const char *hide_key, const char *name, struct error *err);
void refview_release(struct refview *view);

/*
 * Call `fn` for the visible refs below `prefix`, as refs_each() does. Names and
 * targets have no prefix of the namespace. With `hidden_too`, hidden refs are
 * visited, too. Returns 0, the first value of `fn` that is not 0, or a negative
 * error code. A directory whose refs are all hidden is skipped by one search,
 * whatever its size.
 */
int refview_each(struct refview *view, const char *prefix, bool hidden_too,
		 int (*fn)(void *ctx, const struct ref *ref), void *ctx,
		 struct error *warning, struct error *err);

/*
 * Works like refs_get_cached(), with the same results, for the refs that
 * refview_each() visits with this prefix.
 */
int refview_get_cached(const struct refs_cached **out, struct refview *view,
		       const char *prefix, struct error *err);

/*
 * Finds out whether a ref below `prefix`, visible or hidden, may be a tag that
 * peels to an object in search->ids. Returns 1 if there may be such a tag, 0 if
 * there certainly is none, or a negative error code.
 */
int refview_may_peel(struct refview *view, const char *prefix,
		     const struct refs_peel_search *search, struct error *err);

/*
 * Call `fn` for all visible refs of the namespace, and for the refs outside of
 * the namespace. Hidden refs are left out in both cases. For refs outside of
 * the namespace, ref->name is NULL. Returns 0, the first value of `fn` that is
 * not 0, or a negative error code.
 */
int refview_each_with_others(struct refview *view,
			     int (*fn)(void *ctx, const struct ref *ref),
			     void *ctx, struct error *warning,
			     struct error *err);

/*
 * Returns 1 if the ref that clients call `name` is hidden, 0 if not, or
 * ERR_NOMEM.
 */
int refview_hides(struct refview *view, const char *name);

/*
 * Returns the ref's full name, with the namespace prefix, or NULL if there is
 * no memory. The name is valid until the next call on this view.
 */
const char *refview_full_name(struct refview *view, const char *name);

/*
 * Look up "HEAD" or a name below "refs/", as refs_lookup() does. Returns 0 for
 * hidden refs and for names that have another form, as if the ref did not
 * exist.
 */
int refview_lookup(struct refview *view, const char *name, struct ref *ref,
		   struct error *err);

/*
 * Look up HEAD. The return values are those of refview_lookup(). If HEAD is a
 * symbolic ref and has a value, *branch is set to head->target, the name of the
 * branch. Otherwise *branch is NULL. The string is valid until the next call on
 * this view.
 *
 * If the hide rules hide HEAD, the function returns 0, as if HEAD did not
 * exist, and *head has no meaning. But if the branch itself is visible, *branch
 * is set nevertheless.
 */
int refview_head(struct refview *view, struct ref *head, const char **branch,
		 struct error *err);

/*
 * Look up a short name, which may stand for <name>, refs/<name>,
 * refs/tags/<name> or refs/heads/<name>. Returns how many of these refs exist,
 * or a negative error code. *ref is the first of these refs. Only the id in
 * *ref is valid.
 */
int refview_expand(struct refview *view, const char *name, struct ref *ref,
		   struct error *err);

#endif
