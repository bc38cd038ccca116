/* SPDX-License-Identifier: MIT */
/*
 * The view of refs: the refs that a client may see. These are the refs of the
 * client's namespace (gitnamespaces(7)), with the namespace prefix removed,
 * except the hidden ones. transfer.hideRefs hides refs, and so does the
 * service's own key: uploadpack.hideRefs or receive.hideRefs.
 *
 * A view is used by one thread, as the refs snapshot in it is.
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
	/* "!": matching refs are shown */
	bool is_exposed;
	/* "^": matched against full names, with the namespace prefix */
	bool is_full;
};

/* All rules of a service. */
struct refview_rules {
	/* owned; the last matching rule decides */
	struct refview_rule *rules;
	size_t nr, alloc;
};

/* Add the rule of a configuration value. Returns 0 or ERR_NOMEM. */
int refview_rules_add(struct refview_rules *rules, const char *value);
void refview_rules_release(struct refview_rules *rules);

/*
 * Whether the rules hide a ref. A pattern matches the ref of that name and all
 * refs below it. `name` is the name that clients see; `full` has the namespace
 * prefix.
 */
bool refview_rules_hide(const struct refview_rules *rules, const char *name,
			const char *full);

/* An open view of refs. */
struct refview {
	struct refs *refs; /* owned */
	/* "refs/namespaces/<name>/", or empty */
	struct buf prefix;
	/* scratch: a name with the namespace prefix */
	struct buf full;
	struct refview_rules rules;
	/* number of refs that were read through this view */
	uint64_t looked_at;
	/*
	 * owned: full names of directories whose refs are all hidden, each with
	 * a final slash; sorted; NULL after the last
	 */
	char **skips;
	/*
	 * owned: full names, sorted. The rules decide the same for all full
	 * names between two neighbours. NULL after the last
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
 * As refs_each(), for visible refs. Names and targets have no namespace prefix.
 * With `hidden_too`, hidden refs are visited, too. A directory whose refs are
 * all hidden costs one search, whatever its size.
 */
int refview_each(struct refview *view, const char *prefix, bool hidden_too,
		 int (*fn)(void *ctx, const struct ref *ref), void *ctx,
		 struct error *warning, struct error *err);

/*
 * Whether a ref that clients see below `prefix`, or a hidden ref there, may be
 * a tag that peels to one of `ids`. Returns as refs_may_peel().
 */
int refview_may_peel(struct refview *view, const char *prefix,
		     const struct oidmap *ids, struct error *err);

/*
 * As refview_each() for all visible refs, and for the refs outside the
 * namespace, except those that the rules hide. ref->name is NULL for refs
 * outside the namespace.
 */
int refview_each_with_others(struct refview *view,
			     int (*fn)(void *ctx, const struct ref *ref),
			     void *ctx, struct error *warning,
			     struct error *err);

/*
 * Whether the ref that clients call `name` is hidden. Returns 1, 0 or
 * ERR_NOMEM.
 */
int refview_hides(struct refview *view, const char *name);

/*
 * Returns the ref's full name, with the namespace prefix, or NULL if there is
 * no memory. The name is valid until the next call on this view.
 */
const char *refview_full_name(struct refview *view, const char *name);

/*
 * As refs_lookup(), for "HEAD" and names below "refs/". Returns 0 for hidden
 * refs and for all other names, as if the ref did not exist.
 */
int refview_lookup(struct refview *view, const char *name, struct ref *ref,
		   struct error *err);

/*
 * As refview_lookup() for HEAD. *branch: the ref that HEAD is a symbolic ref
 * to, if HEAD has a value. If HEAD itself is hidden, the function returns 0,
 * and *branch is set only if clients see that ref. *branch lives as long as
 * head->target. NULL: no such ref.
 */
int refview_head(struct refview *view, struct ref *head, const char **branch,
		 struct error *err);

/*
 * Look up a short name as clients write it: <name>, refs/<name>,
 * refs/tags/<name>, refs/heads/<name>. Returns how many of them exist, or a
 * negative error code. *ref is the first that exists; only its id is valid.
 */
int refview_expand(struct refview *view, const char *name, struct ref *ref,
		   struct error *err);

#endif
