/* SPDX-License-Identifier: MIT */
/* Tips of a walk from the repository's references. */
#ifndef WALK_REF_TIPS_H
#define WALK_REF_TIPS_H

#include "base/error.h"
#include "refs/refs.h"
#include "walk/walk.h"

/*
 * Add what HEAD and all refs whose name starts with `prefix` ("": all) name,
 * each value once.
 * HEAD is added only when the prefix is "". A ref to a missing object is
 * ERR_MISSING ("bad object <ref> (<id>)"), and a broken ref is an error too:
 * who packs by these tips must not lose what it may have named.
 */
int ref_tips_add(struct walk *w, struct walk_tips *tips, struct refs *refs,
		 const char *prefix, struct error *err);

/*
 * Add what all reflogs, the HEADs of worktrees and info/grafts keep alive; and
 * what the indexes of all worktrees do. Entries whose objects are gone are left
 * out.
 */
int ref_tips_add_reflogs(struct walk *w, struct walk_tips *tips,
			 struct error *err);
int ref_tips_add_index(struct walk *w, struct walk_tips *tips,
		       struct error *err);

#endif
