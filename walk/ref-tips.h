/* SPDX-License-Identifier: MIT */
/*
 * Adds tips to a walk: refs, and the extra roots of the repository, such as
 * reflogs and indexes.
 */
#ifndef WALK_REF_TIPS_H
#define WALK_REF_TIPS_H

#include <stdbool.h>

#include "base/error.h"
#include "refs/refs.h"
#include "walk/walk.h"

/*
 * Adds the objects of all refs whose names start with `prefix` ("": all refs
 * and HEAD), each object once. Returns 0 or a negative error code. A ref to a
 * missing object is ERR_MISSING ("bad object <ref>"). A broken ref is an error
 * too: a repack must not lose the object that the ref may have named. If HEAD
 * and another ref are bad, the message names the other ref. After
 * refs_leave_out_broken(), three kinds of refs are left out without an error:
 * broken refs; refs to missing objects, or to tags whose target is missing; and
 * refs to damaged objects. But even then, a ref to an intact tag object whose
 * target is damaged is an error.
 */
int ref_tips_add(struct walk *w, struct walk_tips *tips, struct refs *refs,
		 const char *prefix, struct error *err);

/*
 * Replaces the message "bad object <ref>" of ref_tips_add() by "unable to parse
 * object: <ref>". Stock Git prints the second message when it marks reachable
 * objects before it expires unreachable ones. The message is not replaced if
 * only the target of a tag is missing. `err` may be NULL.
 */
void ref_tips_reword(const struct walk *w, struct refs *refs,
		     struct error *err);

/*
 * Kinds of roots that are not refs of the repository. An object that such a
 * root names must be kept, even if no ref reaches the object. Code that removes
 * objects visits all kinds, with ref_tips_each_extra() or with
 * ref_tips_add_extra() for each kind.
 */
enum extra_root {
	/* reflogs, HEADs and per-worktree refs (refs_each_reflog_oid()) */
	EXTRA_ROOT_REFLOGS,
	/* info/grafts (repo/grafts.h) */
	EXTRA_ROOT_GRAFTS,
	/* index files of all worktrees (names/index-file.h) */
	EXTRA_ROOT_INDEXES,
	/* stopped rebases of all worktrees (repo/rebase.h) */
	EXTRA_ROOT_REBASES,

	EXTRA_ROOT_NR
};

/*
 * Visits the object ids in the extra roots of `repo`: first all ids of the
 * first kind in enum extra_root, then those of the next kind, and so on. An id
 * may be visited several times, and its object may be missing. If `fn` returns
 * a nonzero value, the visit stops and returns this value. Otherwise returns 0
 * or a negative error code.
 */
int ref_tips_each_extra(const struct repo *repo,
			int (*fn)(void *ctx, const struct oid *oid), void *ctx,
			struct error *err);

/*
 * Adds the objects that the extra roots of one kind name. Extra roots are ids
 * outside of the refs, such as those in index files (enum extra_root). Returns
 * 0 or a negative error code.
 *
 * Without `strict`, a missing object is left out. With `strict`, a missing
 * object is ERR_MISSING. The message is then "unable to parse object: <id>" if
 * `kind` is EXTRA_ROOT_REBASES, and "unable to read <id>" for all other kinds.
 */
int ref_tips_add_extra(struct walk *w, struct walk_tips *tips,
		       enum extra_root kind, bool strict, struct error *err);

#endif
