/* SPDX-License-Identifier: MIT */
/* Adds tips to a walk: refs, reflogs, worktrees and indexes. */
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
 * broken refs, refs to missing objects, and refs to damaged objects. A tag of a
 * damaged object is always an error.
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
 * Adds the objects that reflogs, HEADs of worktrees and info/grafts name.
 * Missing objects are left out. Returns 0 or a negative error code.
 */
int ref_tips_add_reflogs(struct walk *w, struct walk_tips *tips,
			 struct error *err);

/*
 * Adds the objects of the indexes of all worktrees. With `strict`, a missing
 * object is ERR_MISSING ("unable to read <id>"); otherwise a missing object is
 * left out. Returns 0 or a negative error code.
 */
int ref_tips_add_index(struct walk *w, struct walk_tips *tips, bool strict,
		       struct error *err);

/*
 * Adds the objects that stopped rebases of all worktrees need
 * (repo/rebase.h). With `strict`, a missing object is ERR_MISSING ("unable to
 * parse object: <id>"); otherwise a missing object is left out. Returns 0 or a
 * negative error code.
 */
int ref_tips_add_rebases(struct walk *w, struct walk_tips *tips, bool strict,
			 struct error *err);

#endif
