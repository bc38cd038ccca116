/* SPDX-License-Identifier: MIT */
/*
 * The refs a client may see: those of its namespace (gitnamespaces(7)), with
 * the namespace's prefix taken off, without those that transfer.hideRefs and
 * the service's own uploadpack.hideRefs or receive.hideRefs hide.
 *
 * One view per thread, as the refs snapshot below it.
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
	char *pattern;   /* owned, without trailing slashes */
	size_t len;      /* of the pattern */
	bool is_exposed; /* "!": what it matches is shown */
	bool is_full;    /* "^": matched with the namespace's prefix on */
};

struct refview_rules {
	struct refview_rule *rules; /* owned; the last that matches decides */
	size_t nr, alloc;
};

/* Add the rule that a configuration value stands for. 0 or ERR_NOMEM. */
int refview_rules_add(struct refview_rules *rules, const char *value);
void refview_rules_release(struct refview_rules *rules);

/*
 * Whether a ref is hidden. A pattern matches the ref of that name and all
 * below it. `name` is as clients see it, `full` with the namespace's prefix.
 */
bool refview_rules_hide(const struct refview_rules *rules, const char *name,
			const char *full);

struct refview {
	struct refs *refs; /* owned */
	struct buf prefix; /* "refs/namespaces/<name>/", or empty */
	struct buf full;   /* scratch: a name with its prefix */
	struct refview_rules rules;
	uint64_t looked_at; /* refs, by all functions below */
	char **skips;       /* owned: directories of which all is hidden, with
			       prefix and slash; NULL after the last */
	char **bounds; /* owned, in order: between two of them the rules say
			  the same of all full names; NULL after the last */
};

/*
 * Open the view of namespace `name` (NULL or "": none; "a/b" is the
 * namespace b within a). `hide_key` is the service's own key in lower case,
 * "uploadpack.hiderefs". 0, or a negative error (ERR_INVALID for a name that
 * is none: "a/", ".."); release in any case.
 */
int refview_open(struct refview *view, const struct repo *repo,
		 const char *hide_key, const char *name, struct error *err);
void refview_release(struct refview *view);

/*
 * As refs_each() for what is visible: names and targets have no prefix. With
 * `hidden_too` the hide rules are not asked. Directories that are hidden as a
 * whole cost a search each, whatever they hold.
 */
int refview_each(struct refview *view, const char *prefix, bool hidden_too,
		 int (*fn)(void *ctx, const struct ref *ref), void *ctx,
		 struct error *warning, struct error *err);

/*
 * As refs_may_peel() for what a client calls `prefix`, hidden or not.
 */
int refview_may_peel(struct refview *view, const char *prefix,
		     const struct oidmap *ids, struct error *err);

/*
 * As refview_each() for all visible refs and those outside the namespace,
 * which have no name (NULL) for clients.
 */
int refview_each_with_others(struct refview *view,
			     int (*fn)(void *ctx, const struct ref *ref),
			     void *ctx, struct error *warning,
			     struct error *err);

/*
 * Whether a ref is hidden from clients, who call it `name`. 1, 0 or
 * ERR_NOMEM.
 */
int refview_hides(struct refview *view, const char *name);

/* The ref's name in the repository; valid until the next call, or NULL. */
const char *refview_full_name(struct refview *view, const char *name);

/*
 * As refs_lookup() for "HEAD" and names below "refs/"; a hidden ref, or any
 * other name, is as good as absent.
 */
int refview_lookup(struct refview *view, const char *name, struct ref *ref,
		   struct error *err);

/*
 * As refview_lookup() for HEAD. *branch: what it is a symbolic ref to, if it
 * has a value; of a HEAD that is hidden (0), only what clients see. It lives as
 * long as head->target; NULL: nothing.
 */
int refview_head(struct refview *view, struct ref *head, const char **branch,
		 struct error *err);

/*
 * What a short name means to a client:
 * <name>, refs/<name>, refs/tags/<name>, refs/heads/<name>. Returns how many
 * of them exist; of *ref, the first, only the id is valid.
 */
int refview_expand(struct refview *view, const char *name, struct ref *ref,
		   struct error *err);

#endif
