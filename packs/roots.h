/* SPDX-License-Identifier: MIT */
/*
 * Lists the roots of reachability: references and the extra roots
 * (walk/ref-tips.h). Also lists the tips that get bitmaps, and the tips of the
 * tip island. The tip island is the closure of the trees at these tips.
 */
#ifndef PACKS_ROOTS_H
#define PACKS_ROOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "refs/refs.h"
#include "walk/walk.h"

/*
 * Maximum number of branches whose tips are marked SELECT_NEW_BRANCH: the
 * newest branches.
 */
#define ROOTS_NEW_BRANCHES 512

enum roots_flags {
	/*
	 * add the HEADs and the extra roots (walk/ref-tips.h) of all work
	 * trees, too
	 */
	ROOTS_ALL = 1 << 0,
	/* a missing object of a stopped rebase is an error */
	ROOTS_STRICT_REBASES = 1 << 1,
	/* a missing object of an index is an error */
	ROOTS_STRICT_INDEXES = 1 << 2,
};

/*
 * Add the roots of reachability to `tips`: references and HEAD. `flags` are of
 * enum roots_flags; 0: no flag. Returns 0 or a negative error code. A reference
 * or HEAD that names a missing object is an error. Other missing objects are
 * left out if the flags do not say otherwise.
 */
int roots_add(struct walk *w, struct walk_tips *tips, struct refs *refs,
	      unsigned int flags, struct error *err);

/*
 * Mark tips by their kind. *is_tip receives a malloc()ed array of w->history.nr
 * bytes, indexed by commit_nr; each byte is an enum select_tip
 * (bitmap/select.h). If a commit is a tip of several kinds, the first of this
 * list counts:
 * - SELECT_TIP: references under the prefixes in pack.preferBitmapTips, or HEAD
 *   if this key is not set;
 * - SELECT_NEW_BRANCH: the newest ROOTS_NEW_BRANCHES branches, if the key is
 *   not set;
 * - SELECT_BRANCH: other branches;
 * - SELECT_REF: other references, only with `all_refs`.
 *
 * Call this function after all commits were added to w->history, because the
 * array does not grow. Returns 0 or a negative error code.
 */
int roots_mark_tips(uint8_t **is_tip, struct walk *w, struct refs *refs,
		    bool all_refs, struct error *err);

/*
 * Add the tips of the tip island (islands/islands.h). They are the references
 * under the prefixes in repack.tipIsland. The value "HEAD" or "true" stands for
 * HEAD. The value "false" cancels all values before it. Without the key, HEAD
 * is added if the repository is bare. Returns 0 or a negative error code.
 */
int roots_add_island_tips(struct walk *w, struct walk_tips *tips,
			  struct refs *refs, struct error *err);

/*
 * Set *value to a value of repack.tipIsland that matches no reference, or to
 * NULL if every value matches one. The value "false" cancels all values before
 * it, so these values are not considered. *value is borrowed from the
 * configuration. Returns 0 or a negative error code.
 */
int roots_find_idle_island(const char **value, const struct repo *repo,
			   struct refs *refs, struct error *err);

#endif
